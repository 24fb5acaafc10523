"""Reads written.parquet, which parquet.Writer wrote, with pyarrow (26.0.1).

    python data/parquet/testdata/read_written.py [file]
"""

import os
import sys

try:
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"read_written.py: SKIPPED: {missing}")
    sys.exit(0)

path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "written.parquet")
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
