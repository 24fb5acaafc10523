"""Models behind real servers on loopback, decomposed by the program and judged by their own predictions:
judge.py mlserver|mlflow|pho PHO DIR. models.py has filled DIR; of pho it may be empty.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import numpy
import pandas

kind, pho, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server that runs until it is stopped, on the same port each time."""

    def __init__(self, command, ready, env=None):
        self.command, self.ready, self.env = command, ready, {**os.environ, **(env or {})}
        self.start()

    def start(self):
        self.log = open("server.log", "ab")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, env=self.env, start_new_session=True)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.ready, timeout=1).read()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{self.command} ended; see {folder}/server.log") from None
                time.sleep(0.2)
        self.stop()
        raise SystemExit(f"{self.command} does not get ready; see {folder}/server.log")

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()
        self.log.close()


def run(*arguments, fails=False):
    done = subprocess.run([pho, *arguments], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        raise SystemExit(f"pho {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
    return done.stderr


def same(a, b):
    """The files of two results, but for run.json."""
    for name in sorted(os.listdir(a)):
        if name != "run.json" and open(f"{a}/{name}", "rb").read() != open(f"{b}/{name}", "rb").read():
            raise SystemExit(f"{a}/{name} and {b}/{name} differ")


def judged(name, address, wanted, *options, data="rows.csv"):
    """Decompose the model at an address; eta has to be what the model itself predicts."""
    run("decompose", "--model", address, "--data", data, "--out", name, *options)
    parts = pandas.read_csv(f"{name}/contributions.csv")
    eta = parts[[c for c in parts if c == "eta" or c.endswith(".eta")]].to_numpy()
    if wanted.ndim == 2:  # log probabilities: of two classes the log odds of the second, of more they are centred
        wanted = wanted[:, 1:] - wanted[:, :1] if wanted.shape[1] == 2 else wanted - wanted.mean(axis=1, keepdims=True)
    off = numpy.abs(eta - wanted.reshape(len(eta), -1)).max()
    print(f"{name}: {len(eta)} rows, largest difference {off:.1e}")
    # Numbers travel as decimals that read back as they are; logarithms of probabilities near 0 and 1 lose a few digits.
    if not off < 1e-9:
        raise SystemExit(f"{name}: eta is off by {off}")
    run("apply", "--decomposition", name, "--data", data, "--out", f"{name}.csv")
    if open(f"{name}.csv").read() != open(f"{name}/contributions.csv").read():
        raise SystemExit(f"{name}: apply gives other parts")


def killed(server, address, *options, data="rows.csv"):
    """A server that is killed while rows are asked: an error that says so; the same call goes on, to the same bytes."""
    base = ["decompose", "--model", address, "--data", data, *options]
    run(*base, "--out", "whole")
    work = subprocess.Popen([pho, *base, "--out", "resumed", "--resume"], stderr=subprocess.PIPE, text=True)
    while not os.path.exists("resumed.resume/answers") or os.path.getsize("resumed.resume/answers") == 0:
        if work.poll() is not None:
            raise SystemExit(f"the run ended before the server was killed: {work.stderr.read()}")
        time.sleep(0.01)
    server.stop()
    error = work.communicate()[1]
    if work.returncode != 1 or address not in error or os.path.exists("resumed"):
        raise SystemExit(f"a killed server: status {work.returncode}\n{error}")
    print("killed:", error.strip().splitlines()[-1])
    server.start()
    run(*base, "--out", "resumed", "--resume")
    same("whole", "resumed")
    print("resumed to the same bytes")


def many(path, times):
    """A file of more rows, so that there is time to kill a server."""
    rows = pandas.read_csv(path)
    pandas.concat([rows] * times).to_csv("many.csv", index=False)


if kind == "mlserver":
    wanted, port = numpy.load("wanted.npz", allow_pickle=True), free()
    with open("settings.json", "w") as file:
        json.dump({"host": "127.0.0.1", "http_port": port, "grpc_port": free(), "metrics_port": free(), "parallel_workers": 0}, file)
    base = f"http://127.0.0.1:{port}/v2"
    server = Server([os.path.join(os.path.dirname(sys.executable), "mlserver"), "start", "."], f"{base}/health/ready")
    try:
        judged("named", f"{base}/models/pipeline", wanted["pipeline"], "--response", "y")
        judged("unnamed", f"{base}/models/regression", wanted["regression"], "--response", "y", "--input", "input=x1,x2,k")
        judged(
            "classes",
            f"{base}/models/three/versions/v1",
            wanted["three"],
            "--response",
            "m",
            "--input",
            "input=x1,x2,k",
            "--link",
            "softmax",
            "--predictor",
            "predict_proba",
            "--classes",
            ",".join(wanted["classes"]),
        )
        for options, said in [(("--input", "input=x1,x2,k"), "a label has no scale"), ((), "it was given the columns")]:
            error = run("decompose", "--model", f"{base}/models/three", "--data", "rows.csv", "--out", "none", *options, fails=True)
            assert said in error, error
        assert "no such model" in run("decompose", "--model", f"{base}/models/other", "--data", "rows.csv", "--out", "none", fails=True)
        many("rows.csv", 20)
        killed(server, f"{base}/models/pipeline", "--formula", "y ~ s(x1) + g", data="many.csv")
    finally:
        server.stop()
elif kind == "mlflow":
    wanted = numpy.load("wanted.npz", allow_pickle=True)
    for name, options in [("pipeline", ("--response", "y")), ("two", ("--response", "c", "--link", "softmax"))]:
        port = free()
        command = [os.path.join(os.path.dirname(sys.executable), "mlflow"), "models", "serve", "-m", name, "-p", str(port), "--env-manager", "local"]
        server = Server(command, f"http://127.0.0.1:{port}/health", {"PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]})
        try:
            judged(f"of_{name}", f"http://127.0.0.1:{port}/invocations", wanted[name], "--input", "dataframe_split=g,x1,x2,k", *options)
            error = run(
                "decompose",
                "--model",
                f"http://127.0.0.1:{port}/invocations",
                "--data",
                "rows.csv",
                "--out",
                "none",
                "--input",
                "dataframe_split=g,x1",
                fails=True,
            )
            assert "Model is missing inputs" in error, error
            if name == "pipeline":
                many("rows.csv", 20)
                killed(
                    server,
                    f"http://127.0.0.1:{port}/invocations",
                    "--formula",
                    "y ~ s(x1) + g",
                    "--input",
                    "dataframe_split=g,x1,x2,k",
                    data="many.csv",
                )
        finally:
            server.stop()
else:
    run("demo", "--out", "demo")
    port = free()
    server = Server([pho, "serve", "demo/ssn", "--listen", f"127.0.0.1:{port}"], f"http://127.0.0.1:{port}/v2/health/ready")
    try:
        address = f"http://127.0.0.1:{port}/v2/models/ssn"
        wanted = pandas.read_csv("demo/ssn/contributions.csv")["eta"].to_numpy()
        judged("own", address, wanted, "--predictor", "eta", "--response", "y", data="demo/data.csv")
        many("demo/data.csv", 40)
        killed(server, address, "--predictor", "eta", "--formula", "y ~ s(x1) + x2", data="many.csv")
    finally:
        server.stop()
