"""triton.py ADDRESS MODEL ROWS.json: asks a server by NVIDIA's client, in JSON and in binary
tensors, and compares every part with those in the file, bit for bit."""

import json
import sys

import numpy as np
import tritonclient.http as triton

client = triton.InferenceServerClient(sys.argv[1])
model = sys.argv[2]
table = json.load(open(sys.argv[3]))
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(model)
assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
metadata = client.get_model_metadata(model)
for binary in (False, True):
    inputs = []
    for tensor in metadata["inputs"]:
        values = np.array(table["rows"][tensor["name"]], dtype=object if tensor["datatype"] == "BYTES" else np.float64)
        own = triton.InferInput(tensor["name"], list(values.shape), tensor["datatype"])
        own.set_data_from_numpy(values, binary_data=binary)
        inputs.append(own)
    outputs = [triton.InferRequestedOutput(name, binary_data=binary) for name in table["parts"]]
    answer = client.infer(model, inputs, outputs=outputs, request_id="7", model_version=metadata["versions"][0], timeout=5_000_000)
    assert answer.get_response()["id"] == "7"
    for name, want in table["parts"].items():
        got = answer.as_numpy(name)
        if got.dtype == object:  # null
            got = np.array([np.nan if v is None else v for v in got], dtype=np.float64)
        np.testing.assert_array_equal(got, np.array([np.nan if v is None else v for v in want], dtype=np.float64), name)
    assert client.infer(model, inputs).as_numpy("eta").shape == (len(table["parts"]["eta"]),)
try:
    client.infer(model, inputs, outputs=[triton.InferRequestedOutput("nothing")])
    raise SystemExit("an output that is none is taken")
except triton.InferenceServerException as error:
    assert "no output" in str(error), error
print("same")
