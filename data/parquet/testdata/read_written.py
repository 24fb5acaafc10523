"""Reads written.parquet and written_batch.parquet, which parquet.Writer wrote,
with pyarrow (26.0.1).

    python data/parquet/testdata/read_written.py [written.parquet [written_batch.parquet]]
"""

import math
import os
import sys

try:
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"read_written.py: SKIPPED: {missing}")
    sys.exit(0)

paths = [os.path.join(os.path.dirname(os.path.abspath(__file__)), name) for name in ("written.parquet", "written_batch.parquet")]
paths[: len(sys.argv) - 1] = sys.argv[1:]
path = paths[0]
want = {"s(x)": [], "η": []}
for i in range(400):
    nulls = 1 + i % 2 if i % 3 == 0 or i > 300 else 0
    want["s(x)"] += [(i / 8) ** 2] + [None] * nulls
    want["η"] += [-i / 8] + [None] * nulls
got = pq.read_table(path)
assert got.to_pydict() == want, "the table differs"
assert [str(c.type) for c in got.columns] == ["double", "double"]
group = pq.ParquetFile(path).metadata.row_group(0)
for j in range(2):
    assert group.column(j).statistics.null_count == want["η"].count(None)
    assert group.column(j).compression == "SNAPPY"
print("ok:", got.num_rows, "rows")

rows = list(range(2500)) + [None] * 3 + list(range(2500, 2540))
route = lambda i: ["", "JFK→LAX", f"route{i // 1000}", f"route{i % 5}"][i % 4]
value = lambda f: [None if i is None else f(i) for i in rows]
got = pq.read_table(paths[1])
assert [str(c.type) for c in got.columns] == ["int32", "double", "string"]
assert got.column("minute").to_pylist() == value(lambda i: i * 7 % 1440 - 720)
assert got.column("route").to_pylist() == value(route)
for have, want in zip(got.column("delay").to_pylist(), value(math.sin)):
    assert have == want or abs(have - want) < 1e-15
group = pq.ParquetFile(paths[1]).metadata.row_group(0)
for j, dictionary in enumerate([True, False, True]):
    assert group.column(j).has_dictionary_page == dictionary
    assert group.column(j).statistics.null_count == 3
print("ok:", got.num_rows, "rows of batches")
