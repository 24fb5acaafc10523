package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// strided copies src into dst, a dense tensor of shape size, reading with the
// given element strides from the given start.
func strided[E any](dst, src []E, start int, size, stride []int) {
	if graph.Product(size) == 0 {
		return
	}
	if len(size) == 0 {
		dst[0] = src[start]
		return
	}
	var at [4 * graph.MaxRank]int // einsum has more labels than a tensor has axes
	last := len(size) - 1
	for last > 0 && size[last] == 1 { // a column of a matrix is one run
		last--
	}
	n, step := size[last], stride[last]
	for o := 0; ; o += n {
		if step == 1 {
			copy(dst[o:o+n], src[start:start+n])
		} else {
			for i, p := 0, start; i < n; i, p = i+1, p+step {
				dst[o+i] = src[p]
			}
		}
		i := last - 1
		for ; i >= 0; i-- {
			at[i]++
			start += stride[i]
			if at[i] < size[i] {
				break
			}
			start -= stride[i] * size[i]
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// denseStrides appends the element strides of a dense tensor.
func denseStrides(dst []int, shape []int) []int {
	n := len(shape)
	dst = slices.Grow(dst, n)[:n]
	s := 1
	for i := n - 1; i >= 0; i-- {
		dst[i] = s
		s *= shape[i]
	}
	return dst
}

func stridedTensor[T kernel.Float](out, in Operand[T], start int, stride []int) {
	if out.F != nil {
		strided(out.F, in.F, start, out.Shape, stride)
	} else {
		strided(out.I, in.I, start, out.Shape, stride)
	}
}
