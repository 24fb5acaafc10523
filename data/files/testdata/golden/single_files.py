"""Writes single.parquet and single.arrow: lists of one number, which are the number, and list views, which Parquet has not.

    python single_files.py     in this folder, with pyarrow 26.0.1

Columns: "list" and "fixed" are lists of one number, 0.5 to 2.5, of which row 1 is null and row 3 holds a null; "view" and "large" are list
views of two numbers.
"""
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

one = [[0.5], None, [1.5], [None], [2.5]]
columns = {"list": pa.array(one, pa.list_(pa.float64())), "fixed": pa.array([[0.5], [1.0], [1.5], [2.0], [2.5]], pa.list_(pa.float32(), 1))}
pq.write_table(pa.table(columns), "single.parquet")
pairs = [[i, i + 0.5] for i in range(5)]
views = pa.table({**columns, "view": pa.array(pairs, pa.list_view(pa.float64())), "large": pa.array(pairs, pa.large_list_view(pa.float64()))})
with pa.ipc.new_file("single.arrow", views.schema) as f:
    f.write_table(views)
print(pa.__version__, views["view"].cast(pa.list_(pa.float64())).type)
