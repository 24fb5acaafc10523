package onnxbasis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// tiny is less than any difference of two levels, and more than 0 in float32 too, in which
// some runtimes compute.
const tiny = 1e-37

// longest is how many values a number is compared with at once.
const longest = 256

// reached is how many of the values, which increase, are at most x (N x 1): int64, N. More
// than longest values are searched in two steps, of about the root of their number each.
func (w *Writer) reached(name, x string, values []float64) string {
	n := len(values)
	if n <= longest {
		all := w.graph.Doubles(name+".values", []int{n}, values...)
		return w.atMost(name, x, all, n)
	}
	size := int(math.Ceil(math.Sqrt(float64(n))))
	var first, blocks []float64
	for block := range slices.Chunk(values, size) {
		first, blocks = append(first, block[0]), append(blocks, block...)
		blocks = append(blocks, slices.Repeat([]float64{math.Inf(1)}, size-len(block))...)
	}
	block := w.atMost(name+".blocks", x, w.graph.Doubles(name+".firsts", []int{len(first) - 1}, first[1:]...), len(first)-1)
	table := w.graph.Doubles(name+".values", []int{len(first), size}, blocks...)
	within := w.atMost(name, x, w.gather(name+".block", table, block), size)
	before := w.graph.Node("Mul", name+".before", []string{block, w.graph.Ints(name+".size", int64(size))})
	return w.graph.Node("Add", name+".reached", []string{before, within})
}

// atMost is how many of n values (n, or N x n) are at most x. float32 counts exactly.
func (w *Writer) atMost(name, x, values string, n int) string {
	below := w.graph.Node("Less", name+".below", []string{x, values})
	ones := w.once(fmt.Sprint("ones ", n), func() string {
		return w.cast("ones", w.graph.Doubles("ones.double", []int{n}, slices.Repeat([]float64{1}, n)...), onnxpb.TensorProto_FLOAT)
	})
	above := w.graph.Node("MatMul", name+".above", []string{w.cast(name+".steps", below, onnxpb.TensorProto_FLOAT), ones})
	count := w.cast(name+".greater", above, onnxpb.TensorProto_INT64)
	all := w.once(fmt.Sprint("count ", n), func() string { return w.graph.Ints("count", int64(n)) })
	return w.graph.Node("Sub", name+".count", []string{all, count})
}

// Find is the place of x (N x 1) among the values, counted from 1; 0: it is none of them.
// int64, N.
func (w *Writer) Find(name, x string, values []float64) string {
	n := len(values)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if values[a] < values[b] {
			return -1
		}
		return 1
	})
	sorted, near, place := make([]float64, n), []float64{math.NaN()}, []int64{0}
	for i, from := range order {
		sorted[i] = values[from]
		near, place = append(near, values[from]), append(place, int64(from+1))
	}
	at := w.reached(name, x, sorted)
	nearest := w.gather(name+".nearest", w.graph.Doubles(name+".nearests", []int{n + 1, 1}, near...), at)
	// Equal takes numbers in fraction only from opset 11 on.
	distance := w.graph.Node("Abs", name+".distance", []string{w.graph.Node("Sub", name+".difference", []string{x, nearest})})
	same := w.graph.Node("Less", name+".same", []string{distance, w.scalar("tiny", tiny)})
	known := w.reshaped(name+".known", w.cast(name+".is", same, onnxpb.TensorProto_INT64), -1)
	places := w.gather(name+".place", w.graph.Ints(name+".places", place...), at)
	return w.graph.Node("Mul", name+".found", []string{places, known})
}
