"""Columns of lists, as tensors: by pyarrow, polars and DuckDB.

Made with pyarrow 26.0.1, polars 2.1.0, duckdb 2.0.1 and numpy 2.4.6 (`pip install` in a venv):

    python data/files/testdata/golden/list_files.py

lists.npz holds what pyarrow reads of each column, by to_numpy, as arrays of three axes; all files whose names begin
with lists_ hold the same. Pages of lists_pages.parquet are of a few bytes, so that rows begin in one and end in the
next. list_nulls.* have nulls in place of rows (1, 5), of a list in a row (3) and of a number (7); list_unequal.* have
rows of other lengths (row 4 of "flat" is short, row 6 of "nested" has an inner list too long, "late" an empty row 2).
list_late.* begin with rows without lists. (to_numpy of pyarrow 26 does not turn axes round a cycle as its specification
has it, so the permutation of "turned" swaps two.)
"""

import os
import sys

try:
    import duckdb
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"list_files.py: SKIPPED: {missing}")
    sys.exit(0)

os.chdir(os.path.dirname(os.path.abspath(__file__)))
rng = np.random.default_rng(53)
n = 12


def tensors(values, shape, permutation=None):
    t = pa.fixed_shape_tensor(pa.float32(), shape, permutation=permutation)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), int(np.prod(shape)))
    return pa.ExtensionArray.from_storage(t, flat)


def fixed(values, kind):
    inner = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1), kind), values.shape[2])
    return pa.FixedSizeListArray.from_arrays(inner, values.shape[1])


cells = {
    "flat": pa.array(rng.normal(size=(n, 6)).astype(np.float32).tolist(), pa.list_(pa.float32())),
    "large": pa.array(rng.normal(size=(n, 5)).tolist(), pa.large_list(pa.float64())),
    "fixed": pa.array(rng.normal(size=(n, 6)).tolist(), pa.list_(pa.float64(), 6)),
    "nested": pa.array(rng.integers(-300, 300, (n, 2, 3)).tolist(), pa.list_(pa.list_(pa.int16()))),
    "square": fixed(rng.integers(0, 256, (n, 2, 3)), pa.uint8()),
    "ids": pa.array((rng.integers(0, 2, (n, 4)) * (2**53 - 1)).tolist(), pa.list_(pa.int64())),
    "few": pa.array(rng.integers(0, 3, (n, 7)).tolist(), pa.list_(pa.int32())),
    "truth": pa.array((rng.random((n, 9)) < 0.5).tolist(), pa.list_(pa.bool_())),
    "half": pa.array(rng.normal(size=(n, 3)).astype(np.float16).tolist(), pa.list_(pa.float16())),
    "deep": pa.array(rng.normal(size=(n, 2, 1, 3)).tolist(), pa.list_(pa.list_(pa.list_(pa.float64())))),
    "number": pa.array(rng.normal(size=n)),
}
plain = pa.table(cells)
whole = plain.append_column("tensor", tensors(rng.normal(size=(n, 2, 3)).astype(np.float32), [2, 3])).append_column(
    "turned", tensors(rng.normal(size=(n, 3, 2, 4)).astype(np.float32), [3, 2, 4], [2, 1, 0])
)


def arrow(name, table, rows=None, codec=None, stream=False):
    o = ipc.IpcWriteOptions(compression=codec)
    make = ipc.new_stream if stream else ipc.new_file
    with make(name, table.schema, options=o) as w:
        w.write_table(table, max_chunksize=rows)


pq.write_table(whole, "lists_snappy.parquet", compression="snappy")
pq.write_table(whole, "lists_groups.parquet", compression="none", row_group_size=5, use_dictionary=False)
pq.write_table(whole, "lists_pages.parquet", compression="none", data_page_size=40, write_batch_size=3, use_dictionary=["few"])
pq.write_table(whole, "lists_v2.parquet", compression="zstd", data_page_version="2.0", data_page_size=64, write_batch_size=2, row_group_size=7)
encodings = {
    "large.list.element": "BYTE_STREAM_SPLIT",
    "flat.list.element": "BYTE_STREAM_SPLIT",
    "nested.list.element.list.element": "DELTA_BINARY_PACKED",
    "ids.list.element": "DELTA_BINARY_PACKED",
    "half.list.element": "BYTE_STREAM_SPLIT",
    "truth.list.element": "RLE",
}
pq.write_table(whole, "lists_encodings.parquet", compression="none", use_dictionary=False, column_encoding=encodings, data_page_version="2.0")
pq.write_table(plain, "lists_foreign.parquet", store_schema=False)
arrow("lists_file.arrow", whole, 5)
arrow("lists_lz4.arrow", whole, codec="lz4")
arrow("lists_zstd.arrows", whole.slice(0), 7, codec="zstd", stream=True)
frame = pl.from_arrow(plain)
frame.write_parquet("lists_polars.parquet")
frame.write_ipc("lists_polars.arrow")
half = plain.schema.get_field_index("half")  # of which DuckDB knows no type
wide = plain.set_column(half, "half", plain["half"].cast(pa.list_(pa.float32())))
duckdb.sql("COPY (SELECT * FROM wide) TO 'lists_duckdb.parquet' (FORMAT parquet)")
duckdb.sql("COPY (SELECT * FROM wide) TO 'lists_duckdb_v2.parquet' (FORMAT parquet, PARQUET_VERSION 'V2', COMPRESSION zstd)")

back = pq.read_table("lists_snappy.parquet")
arrays = {}
for name in back.column_names:
    column = back.column(name).combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        v = column.to_numpy_ndarray()
    elif name == "number":
        continue
    else:
        v = np.array([[np.array(inner) for inner in row] if isinstance(row[0], np.ndarray) else row for row in column.to_numpy(zero_copy_only=False)])
        if name == "deep":
            v = np.array(column.to_pylist())
    arrays[name] = np.ascontiguousarray(v).astype(np.float64 if v.dtype != np.int64 else np.int64).reshape(n, 1, -1)
np.savez("lists.npz", **arrays)

flat, nested = plain["flat"].to_pylist(), plain["nested"].to_pylist()
flat[0] = nested[4] = None
nested[2][1] = None
flat[6][2] = None
nulls = pa.table({"flat": pa.array(flat, pa.list_(pa.float32())), "nested": pa.array(nested, pa.list_(pa.list_(pa.int16()))), "fixed": pa.array([None if i == 8 else row for i, row in enumerate(plain["fixed"].to_pylist())], pa.list_(pa.float64(), 6))})
pq.write_table(nulls, "list_nulls.parquet")
arrow("list_nulls.arrow", nulls)

flat, nested, late = plain["flat"].to_pylist(), plain["nested"].to_pylist(), plain["flat"].to_pylist()
flat[3] = flat[3][:4]
nested[5][1] += [7]
late[1] = []
ragged = [[[1, 2], [3]]] + nested[1:]
unequal = pa.table({"number": plain["number"], "flat": pa.array(flat, pa.list_(pa.float32())), "nested": pa.array(nested, pa.list_(pa.list_(pa.int16()))), "late": pa.array(late, pa.list_(pa.float32())), "long": pa.array([r + [9] * (i == 10) for i, r in enumerate(plain["few"].to_pylist())], pa.list_(pa.int32())), "ragged": pa.array(ragged, pa.list_(pa.list_(pa.int16()))), "big": pa.array([[2**53 + (i == 3), 1] for i in range(n)], pa.list_(pa.int64())), "words": pa.array([["a"]] * n), "pairs": pa.array([[{"a": 1, "b": 2}]] * n), "none": pa.array([None, []] * (n // 2), pa.list_(pa.float64()))})
pq.write_table(unequal, "list_unequal.parquet")
arrow("list_unequal.arrow", unequal)

late = pa.table({"flat": pa.array([None, None, [], None] + plain["flat"].to_pylist()[4:], pa.list_(pa.float32())), "nested": pa.array([None, [[], []], [None, [1, 2, 3]], None] + plain["nested"].to_pylist()[4:], pa.list_(pa.list_(pa.int16())))})
pq.write_table(late, "list_late.parquet", row_group_size=2)
arrow("list_late.arrow", late, 2)
