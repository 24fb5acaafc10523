"""The peers' side of benchmarks/tables.sh: answers lines of stdin, of words apart by tabs.

    make DIR ROWS WORKERS     writes the files, sets threads; answers the versions
    settings CASE             names of settings for a case: read, sum or copy, a dot, the file's format
    read SETTING FILE         seconds to read all columns into memory
    sum SETTING FILE          seconds to read all columns and add up each
    copy SETTING FILE OUT     seconds to read a CSV file and write all columns as CSV
    compress CODEC FILE OUT N writes the bytes of FILE compressed, N at a time, behind their lengths
    dump FILE OUT             writes the numbers of FILE, column by column, as float64
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from pyarrow import compute, feather, ipc

duck = duckdb.connect()
threads = ThreadPoolExecutor(1)  # as many as WORKERS later


def tables(rows):
    random = np.random.default_rng(1)
    names = [f"x{j}" for j in range(12)]
    normal = {name: random.standard_normal(rows) for name in names}
    rounded = {name: np.round(normal[name] * 100) / 10 for name in names}
    mixed = dict(normal)
    for j in (6, 7, 8):
        mixed[f"x{j}"] = rounded[f"x{j}"]
    mixed["x9"] = random.integers(0, 100_000, rows)
    mixed["x10"] = np.array(["red", "green", "blue", "light, blue"])[random.integers(0, 4, rows)]
    mixed["x11"] = np.char.add("place ", random.integers(0, 1000, rows).astype(str))
    return normal, rounded, mixed


def make(directory, rows, workers):
    global threads
    threads = ThreadPoolExecutor(int(workers))
    os.chdir(directory)
    pa.set_cpu_count(int(workers))
    pa.set_io_thread_count(int(workers))
    duck.execute(f"SET threads = {workers}")
    normal, rounded, mixed = tables(int(rows))
    pl.DataFrame(normal).write_csv("normal.csv")
    pl.DataFrame(mixed).write_csv("mixed.csv")
    normal, rounded = pa.table(normal), pa.table(rounded)
    for codec in ("none", "snappy", "zstd"):
        pq.write_table(normal, f"plain.{codec}.parquet", use_dictionary=False, compression=codec)
        pq.write_table(rounded, f"dictionary.{codec}.parquet", compression=codec)
    for codec in ("uncompressed", "lz4", "zstd"):
        feather.write_feather(normal, f"{codec}.arrow", compression=codec)
    return f"DuckDB {duckdb.__version__}\tPolars {pl.__version__}\tpyarrow {pa.__version__}"


def kinds(path):
    head = pl.read_csv(path, n_rows=100)
    return {name: kind for name, kind in head.schema.items()}


def given(path):
    sql = {pl.Float64: "DOUBLE", pl.Int64: "BIGINT", pl.String: "VARCHAR"}
    columns = ", ".join(f"'{name}': '{sql[kind]}'" for name, kind in kinds(path).items())
    return f"read_csv('{path}', auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', columns = {{{columns}}})"


def duck_read(source):
    duck.execute(f"CREATE OR REPLACE TEMP TABLE t AS SELECT * FROM {source}")


def duck_copy(source, out):
    duck.execute(f"COPY (SELECT * FROM {source}) TO '{out}' (FORMAT csv, HEADER)")


READ = {
    "csv": {
        "DuckDB, types given": lambda path: duck_read(given(path)),
        "DuckDB, types detected": lambda path: duck_read(f"'{path}'"),
        "Polars, types given": lambda path: pl.read_csv(path, schema=kinds(path)),
        "Polars, types detected": lambda path: pl.read_csv(path),
        "pyarrow, csv.read_csv": lambda path: pc.read_csv(path),
    },
}


def sums(table):
    """The sum of every column of an Arrow table, columns by any thread."""
    return list(threads.map(compute.sum, table.columns))


def sums_of_batches(path, mapped):
    """The same, batches of an Arrow file by any thread, none of which is kept."""
    rows = ipc.open_file(pa.memory_map(path) if mapped else path)
    of = lambda i: [compute.sum(column).as_py() for column in rows.get_batch(i).columns]
    return [sum(column) for column in zip(*threads.map(of, range(rows.num_record_batches)))]


SUM = {
    "parquet": {
        "DuckDB, a query": lambda path: duck.execute(f"SELECT sum(COLUMNS(*)) FROM '{path}'").fetchall(),
        "Polars, scan_parquet": lambda path: pl.scan_parquet(path).sum().collect(),
        "Polars, read_parquet": lambda path: pl.read_parquet(path).sum(),
        "pyarrow, read_table": lambda path: sums(pq.read_table(path)),
        "pyarrow, read_table of a file mapped to memory": lambda path: sums(pq.read_table(path, memory_map=True)),
    },
    "arrow": {
        "pyarrow, read_table": lambda path: sums(feather.read_table(path, memory_map=False)),
        "pyarrow, read_table of a file mapped to memory": lambda path: sums(feather.read_table(path, memory_map=True)),
        "pyarrow, record batches": lambda path: sums_of_batches(path, False),
        "pyarrow, record batches of a file mapped to memory": lambda path: sums_of_batches(path, True),
    },
}

COPY = {
    "csv": {
        "DuckDB, types given": lambda path, out: duck_copy(given(path), out),
        "DuckDB, types detected": lambda path, out: duck_copy(f"'{path}'", out),
        "Polars, in memory": lambda path, out: pl.read_csv(path, schema=kinds(path)).write_csv(out),
        "Polars, streamed": lambda path, out: pl.scan_csv(path, schema=kinds(path)).sink_csv(out),
    },
}


TASKS = {"read": READ, "sum": SUM, "copy": COPY}


def settings(case):
    what, kind = case.split(".")
    return "\t".join(TASKS[what][kind])


def kind(path):
    return path.rsplit(".", 1)[1]


def seconds(call, *arguments):
    start = time.perf_counter()
    kept = call(*arguments)
    took = time.perf_counter() - start
    del kept
    return f"{took}"


def dump(path, out):
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": lambda p: pl.from_arrow(feather.read_table(p))}
    frame = read[kind(path)](path)
    with open(out, "wb") as f:
        for column in frame.iter_columns():
            if column.dtype != pl.String:
                f.write(column.cast(pl.Float64).to_numpy().tobytes())
    return "written"


def compress(codec, path, out, size):
    plain = np.fromfile(path, dtype=np.uint8).tobytes()
    with open(out, "wb") as f:
        for at in range(0, len(plain), int(size)):
            packed = pa.compress(plain[at : at + int(size)], codec={"lz4": "lz4_raw"}.get(codec, codec), asbytes=True)
            f.write(len(packed).to_bytes(8, "little") + packed)
    return "written"


for line in sys.stdin:
    request, *words = line.rstrip("\n").split("\t")
    if request == "make":
        answer = make(*words)
    elif request == "settings":
        answer = settings(*words)
    elif request in TASKS:
        setting, path, out = words
        answer = seconds(TASKS[request][kind(path)][setting], *([path, out] if request == "copy" else [path]))
    elif request == "compress":
        answer = compress(*words)
    else:
        answer = dump(*words)
    print(answer, flush=True)
