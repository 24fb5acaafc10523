"""Tables as Parquet, Arrow and CSV files, written by pyarrow.

Run from the root of the module with a Python that has pyarrow (made with 26.0.1
and numpy 2.4.6; Debian has no package, `pip install pyarrow` in a venv):

    python data/files/testdata/golden/pyarrow_files.py

rows.csv and nulls.csv hold the same cells as the binary files whose names begin
with rows and nulls; numbers are written with all their digits, truth values as 0
and 1, nulls as empty cells. odd.parquet and odd.arrow hold columns that are not
numbers or text.
"""

import datetime
import decimal
import os
import sys

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"pyarrow_files.py: SKIPPED: {missing}")
    sys.exit(0)

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20240817)
n = 300


def table(nulls):
    def mask():
        return rng.random(n) < 0.1 if nulls else None

    carriers = np.array(["AA", "UA", "Ünïted", "a longer name, with a comma", "x"])
    half = rng.normal(size=n).astype(np.float16)
    half[:4] = np.array([0, -0.0, 6e-8, 65504], np.float16)
    return pa.table(
        {
            "x": pa.array(rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n), mask=mask()),
            "f32": pa.array(rng.normal(size=n).astype(np.float32), mask=mask()),
            "f16": pa.array(half, mask=mask()),
            "i8": pa.array(rng.integers(-128, 128, n), pa.int8(), mask=mask()),
            "i16": pa.array(rng.integers(-(2**15), 2**15, n), pa.int16(), mask=mask()),
            "i32": pa.array(rng.integers(-(2**31), 2**31, n), pa.int32(), mask=mask()),
            "i64": pa.array(rng.integers(-(2**53), 2**53 + 1, n), pa.int64(), mask=mask()),
            "u8": pa.array(rng.integers(0, 2**8, n), pa.uint8(), mask=mask()),
            "u16": pa.array(rng.integers(0, 2**16, n), pa.uint16(), mask=mask()),
            "u32": pa.array(rng.integers(0, 2**32, n), pa.uint32(), mask=mask()),
            "u64": pa.array(rng.integers(0, 2**53 + 1, n).astype(np.uint64), mask=mask()),
            "flag": pa.array(rng.random(n) < 0.5, mask=mask()),
            "text": pa.array(carriers[rng.integers(0, 5, n)], pa.string(), mask=mask()),
            "many": pa.array([f"level {k}" for k in rng.integers(0, 300, n)], pa.large_string(), mask=mask()),
            "cat": pa.array(carriers[rng.integers(0, 5, n)], pa.string(), mask=mask()).dictionary_encode(),
        }
    )


def cell(v):
    if v is None:
        return ""
    if isinstance(v, bool):
        return str(int(v))
    if isinstance(v, str):
        return f'"{v}"'
    return repr(float(v)) if not isinstance(v, int) else str(v)


def write_csv(t, name):
    with open(os.path.join(here, name), "w", newline="\n", encoding="utf-8") as out:
        out.write(",".join(t.column_names) + "\n")
        for row in zip(*[c.to_pylist() for c in t.columns]):
            out.write(",".join(map(cell, row)) + "\n")


def parquet(t, name, **options):
    pq.write_table(t, os.path.join(here, name), **{"row_group_size": 125, "data_page_size": 1000, **options})


def arrow(t, name, stream=False, chunk=125, **options):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(os.path.join(here, name), t.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(t, max_chunksize=chunk)


for kind in ["rows", "nulls"]:
    t = table(kind == "nulls")
    write_csv(t, kind + ".csv")
    for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
        parquet(t, f"{kind}_{codec}.parquet", compression=codec)
    plain = [c for c in t.column_names]
    parquet(t, f"{kind}_plain.parquet", use_dictionary=False, compression="snappy")
    parquet(t, f"{kind}_v2.parquet", data_page_version="2.0", compression="zstd", row_group_size=100000)
    parquet(
        t, f"{kind}_delta.parquet", use_dictionary=False, compression="none", data_page_version="2.0",
        column_encoding={"x": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT", "i32": "DELTA_BINARY_PACKED",
                         "i64": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY", "many": "DELTA_LENGTH_BYTE_ARRAY"},
    )
    arrow(t, f"{kind}_file.arrow")
    arrow(t, f"{kind}_lz4.arrow", compression="lz4")
    arrow(t, f"{kind}_zstd.arrow", compression="zstd")
    arrow(t, f"{kind}_stream.arrows", stream=True)
    feather.write_feather(t, os.path.join(here, f"{kind}.feather"), compression="lz4", chunksize=128)

# The same rows with a string view and a run of dictionaries that grow by deltas.
t = table(False).select(["x", "text", "cat"]).slice(0, 60)
write_csv(t, "views.csv")
growing = []
seen = []
for part in t.to_batches(max_chunksize=4):
    words = part.column("cat").to_pylist()
    seen += [w for w in dict.fromkeys(words) if w not in seen]
    codes = pa.DictionaryArray.from_arrays(pa.array([seen.index(w) for w in words], pa.int16()), pa.array(seen, pa.string()))
    growing.append(pa.record_batch([part.column("x"), part.column("text").cast(pa.string_view()), codes], names=t.column_names))
with pa.ipc.new_stream(os.path.join(here, "views_delta.arrows"), growing[0].schema,
                       options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as out:
    for part in growing:
        out.write_batch(part)

odd = pa.table(
    {
        "x": pa.array([1.0, 2.0]),
        "when": pa.array([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)], pa.timestamp("us")),
        "day": pa.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]),
        "price": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")]),
        "list": pa.array([[1, 2], [3]]),
        "struct": pa.array([{"a": 1}, {"a": 2}]),
        "big": pa.array([1, 2**53 + 1], pa.int64()),
        "ubig": pa.array([1, 2**64 - 1], pa.uint64()),
        "inf": pa.array([1.0, float("-inf")]),
        "nan": pa.array([1.0, float("nan")]),
        "null": pa.array([1.0, None]),
        "name": pa.array(["a", None]),
        "bytes": pa.array([b"ok", b"\xff\xfe"], pa.binary()),
        "codes": pa.array([None, "b"], pa.string()).dictionary_encode(),
    }
)
parquet(odd, "odd.parquet")
arrow(odd, "odd.arrow")
parquet(t.slice(0, 0), "empty.parquet")
arrow(t.slice(0, 0), "empty.arrow")

# A null among the values of a dictionary, beside one among its codes.
arrow(pa.table({"x": pa.array([0.0, 1.0, 2.0, 3.0]), "g": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), pa.array(["a", None, "b"]))}), "dictionary.arrow")

# Decimals, dates and times, and in times.csv the numbers that they are read as.
D = decimal.Decimal
moments = [datetime.datetime(1969, 12, 31, 23, 59, 59, 250000), datetime.datetime(2024, 2, 29, 12, 30, 15, 123456), None, datetime.datetime(2262, 1, 1)]
epoch = datetime.datetime(1970, 1, 1)
clocks = [None if m is None else m.time() for m in moments]
typed = {
    "price": (pa.decimal128(10, 2), [D("1.25"), D("-99999999.99"), None, D("0.07")]),
    "wide": (pa.decimal128(38, 10), [D("12345678901234567890.0123456789"), D("-0.0000000001"), None, D("98765432109876543.21")]),
    "huge": (pa.decimal256(60, 3), [D("1e50"), D("-123.456"), None, D("9007199254740993.001")]),
    "day": (pa.date32(), [None if m is None else m.date() for m in moments]),
    "clock": (pa.time32("ms"), [None if c is None else c.replace(microsecond=c.microsecond // 1000 * 1000) for c in clocks]),
    "fine": (pa.time64("us"), clocks),
    "milli": (pa.timestamp("ms"), [None if m is None else m.replace(microsecond=m.microsecond // 1000 * 1000) for m in moments]),
    "micro": (pa.timestamp("us", "Europe/Berlin"), [None if m is None else m.replace(tzinfo=datetime.timezone.utc) for m in moments]),
    "nano": (pa.timestamp("ns"), moments),
}
times = pa.table({n: pa.array(v, t) for n, (t, v) in typed.items()})
numbers = {}
for n, (t, v) in typed.items():
    f = float
    if n == "day":
        f = lambda d: float((d - epoch.date()).days)
    elif n in ("clock", "fine"):
        f = lambda c: ((c.hour * 60 + c.minute) * 60 + c.second) + c.microsecond / 1e6
    elif n in ("milli", "micro", "nano"):
        f = lambda m: (m.replace(tzinfo=None) - epoch).total_seconds()
    numbers[n] = [None if x is None else f(x) for x in v]
with open(os.path.join(here, "times.csv"), "w") as f:
    f.write(",".join(numbers) + "\n")
    for row in zip(*numbers.values()):
        f.write(",".join("" if x is None else repr(x) for x in row) + "\n")
arrow(times, "times.arrow")
parquet(times, "times.parquet", compression="none")
parquet(times, "times_plain.parquet", compression="none", use_dictionary=False)
parquet(times.select(["nano"]), "times_int96.parquet", compression="none", use_deprecated_int96_timestamps=True)
parquet(times.select(["price", "wide", "day"]), "times_whole.parquet", compression="none", store_decimal_as_integer=True)
