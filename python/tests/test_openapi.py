"""The description that `pho serve` gives of itself, judged by OpenAPI's validator and by what is answered."""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pandas
import pytest

import pho
import pho._command


@pytest.fixture(scope="module")
def results(demo, tmp_path_factory):
    """The demo's networks and a model with levels, an odd name and a response scale."""
    folder = tmp_path_factory.mktemp("served")
    n = 200
    rows = pandas.DataFrame({"age": [20 + i % 50 for i in range(n)], 'region "<b>"': ["north", "south", 'é "w"'] * (n // 3) + ["north"] * (n % 3)})

    def chance(frame):
        eta = (frame["age"] - 40) / 20 + (frame['region "<b>"'] == "south")
        return 1 / (1 + (-eta).map(pow_e))

    d = pho.decompose(chance, rows, '~ s(age) + `region "<b>"`', link="logit", export_onnx=True)
    d.save(str(folder / "odd name"))
    return [str(demo), str(folder / "odd name")]


def pow_e(v):
    return 2.718281828459045**v


@pytest.fixture(scope="module")
def server(results):
    """The address of a server of the results."""
    process = subprocess.Popen(
        [pho._command.binary(), "serve", "--listen", "127.0.0.1:0", *results], stderr=subprocess.PIPE, text=True, env={**os.environ, "PHO_TOKEN": ""}
    )
    said = []
    for line in process.stderr:
        said.append(line)
        if json.loads(line)["msg"] == "listening":
            break
    else:
        pytest.fail("".join(said))
    yield "http://" + json.loads(said[-1])["address"]
    process.terminate()
    process.communicate(timeout=20)


def ask(url, body=None):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_openapi(server):
    validator, jsonschema = pytest.importorskip("openapi_spec_validator"), pytest.importorskip("jsonschema")
    document = ask(server + "/openapi.json")[1]
    validator.validate(document)
    broken = json.loads(json.dumps(document))
    del broken["paths"]["/v2/models"]["get"]["responses"]["200"]["description"]
    with pytest.raises(Exception, match="description"):
        validator.validate(broken)

    def judge(schema, value):
        jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)

    asked = 0
    for path, methods in document["paths"].items():
        if "post" not in methods or not path.startswith("/v2"):
            continue
        request = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        plain = request["anyOf"][0]["properties"]["rows"]["items"]["$ref"].rsplit("/", 1)[1]
        row = document["components"]["schemas"][plain].get("examples", [{"age": 40, 'region "<b>"': "north", "prediction": 0.5}])[
            0
        ]  # of a model without a file
        answers = methods["post"]["responses"]
        for parameters in ({}, {"se": True}, {"na": "drop"}):
            body = {"rows": [row, row], "parameters": parameters}
            judge(request, body)
            status, answer = ask(server + path, body)
            assert status == 200, (path, answer)
            judge(answers["200"]["content"]["application/json"]["schema"], answer)
        status, answer = ask(server + path, {"rows": [{}]})
        assert status == 400
        judge(answers["default"]["content"]["application/json"]["schema"], answer)
        with pytest.raises(jsonschema.ValidationError):
            judge(request, {"rows": [{}]})
        asked += 1
    assert asked == 9
