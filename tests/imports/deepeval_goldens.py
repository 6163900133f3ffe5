"""Goldens of deepeval, as its dataset saves them: deepeval_goldens.py FOLDER."""
import os
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.test_case import ToolCall

call = ToolCall(name="find_order", input_parameters={"order": 17})
goldens = [
    Golden(name="order-17", input="Where is my order 17?", expected_output="shipped", actual_output="Order 17 was shipped.",
           context=["Order 17: shipped."], expected_tools=[call], tools_called=[call]),
    Golden(input="When are you open, \"today\"?", expected_output="9 to 5"),
]
for kind in ("json", "csv", "jsonl"):
    EvaluationDataset(goldens=goldens).save_as(file_type=kind, directory=f"{sys.argv[1]}/deepeval", file_name="goldens", include_test_cases=False)
