"""Writes observations as Langfuse's API returns them, with the types of its own client: the server itself is not run."""
import datetime
import json
import sys
from pathlib import Path

from langfuse.api import ObservationV2

SYSTEM, QUERY, RESULT = "You are the helper of Acme.", "Where is my order 17?", '{"state": "shipped", "on": "2026-03-04"}'
ANSWER = "Order 17 was shipped on 2026-03-04 with Acme Express."
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def observation(number, kind, name, parent, input, output, **more):
    start = START + datetime.timedelta(seconds=number)
    return ObservationV2(
        id=f"obs-{number}", trace_id="trace-17", project_id="acme", type=kind, name=name, parent_observation_id=parent,
        start_time=start, end_time=start + datetime.timedelta(milliseconds=500), input=input, output=output, level="DEFAULT",
        session_id="s-17", **more,
    )


def main():
    asked = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUERY}]
    call = {"id": "call_1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": 17}'}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    more = [*asked, called, {"role": "tool", "tool_call_id": "call_1", "content": RESULT}]
    usage = {"input": 21, "output": 9, "total": 30}
    observations = [
        observation(0, "AGENT", "helper", None, QUERY, ANSWER),
        observation(1, "GENERATION", "answer", "obs-0", asked, called, model="model-a", usage_details=usage),
        observation(2, "TOOL", "find_order", "obs-0", {"order": 17}, RESULT),
        observation(3, "GENERATION", "answer", "obs-0", more, {"role": "assistant", "content": ANSWER}, model="model-a", usage_details=usage),
    ]
    path = Path(sys.argv[1]) / "langfuse/observations.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(one.model_dump_json(by_alias=True, exclude_none=True)) for one in observations]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = {"id": "trace-17", "name": "helper", "timestamp": lines[0]["startTime"], "input": QUERY, "output": ANSWER, "sessionId": "s-17", "metadata": {}, "observations": lines[1:]}
    path.with_name("trace.json").write_text(json.dumps(trace, indent=1))


main()
