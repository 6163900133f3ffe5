"""Holds the bodies in a folder against botocore's model of Converse."""

import json
import pathlib
import sys

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2")).operation_model("Converse")


def wrong(body, shape):
    return ParamValidator().validate(body, shape).generate_report()


def enums(body, shape):
    """botocore checks no enums."""
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        return [bad for key, value in body.items() for bad in enums(value, shape.members[key])]
    if shape.type_name == "list":
        return [bad for value in body for bad in enums(value, shape.member)]
    return [body] if getattr(shape, "enum", None) and body not in shape.enum else []


found = []
for file in sorted(pathlib.Path(sys.argv[1]).glob("bedrock.*.json")):
    body = json.loads(file.read_text())
    if file.name.endswith(".answer.json"):
        shape = model.output_shape
    else:
        # The model stands in the address.
        body, shape = {"modelId": "m", **body}, model.input_shape
    report = wrong(body, shape)
    found += [f"{file.name}: {report}"] if report else [f"{file.name}: {bad}" for bad in enums(body, shape)]
assert wrong({"modelId": "m", "messages": [{"role": "user"}]}, model.input_shape), "this check checks nothing"
assert wrong({"modelId": "m", "max": 1}, model.input_shape), "this check checks nothing"
if found:
    sys.exit("\n".join(found))
