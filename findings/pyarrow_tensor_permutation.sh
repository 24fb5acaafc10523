#!/usr/bin/env bash
# pyarrow 26.0.1: an array of tensors whose axes are permuted does not come back from arrow.fixed_shape_tensor. Of the six orders of
# three axes FixedShapeTensorArray.from_numpy_ndarray takes each without a word; of both cyclic orders (channels first seen as
# channels last is one) to_numpy_ndarray and to_tensor then give another shape: 2 x 4 x 2 x 3 of 2 x 3 x 4 x 2. A single cell's to_numpy
# is wrong for these, and for two orders more whose array is right, where it has the right shape and the numbers in other
# places: a[1].to_numpy() and a.to_numpy_ndarray()[1] differ. The control: contiguous rows, and the last two axes swapped, come back in each way.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'P'
import itertools, sys
import numpy, pyarrow
print("pyarrow", pyarrow.__version__)
rows = numpy.arange(2 * 24.0).reshape(2, 2, 3, 4)
expected = {  # whether the array, the tensor, the cell come back
    (0, 1, 2): (True, True, True), (0, 2, 1): (True, True, True),
    (1, 0, 2): (True, True, False), (2, 1, 0): (True, True, False),
    (1, 2, 0): (False, False, False), (2, 0, 1): (False, False, False),
}
for order in itertools.permutations(range(3)):
    x = numpy.transpose(rows, [0, *(1 + axis for axis in order)])
    a = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(x)
    found = [a.to_numpy_ndarray(), a.to_tensor().to_numpy(), a[1].to_numpy()]
    same = tuple(bool(numpy.array_equal(v, w)) for v, w in zip(found, (x, x, x[1])))
    print(f"axes {order}, permutation {a.type.permutation}: array, tensor, cell come back: {same}; shapes {[v.shape for v in found]} of {x.shape}")
    if same != expected[order]:
        sys.exit(f"CHANGED: axes {order}: {same}")
P
