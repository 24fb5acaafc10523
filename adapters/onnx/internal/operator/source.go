package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Source is what a step's first operand is to hold, where it is not there yet: the numbers
// of an input, rows first. The step moves them, some rows at a time, and meanwhile
// computes with those that it has.
type Source[T kernel.Float] struct {
	Rows []float64
	// Enter rounds numbers on their way to the operand; nil: a T holds them as they are, and
	// the step reads them where they lie.
	Enter func(dst []T, src []float64)
}

// rowsAtOnce is how many rows are fetched from memory while as many are multiplied: two of
// the highest tiles.
// Without it a network of 100 inputs waits for memory a third of its time; blocks of rows that are
// in the cache gain nothing by it.
const rowsAtOnce = 24

// product sets Out[0] to rows of a, which is In[0], times w plus bias.
func (x *Exec[T]) product(w *kernel.Weights[T], a []T, rows int, bias []T) {
	out := x.Out[0].F
	switch {
	case x.Source.Rows != nil:
		x.productOfSource(w, a, rows, bias)
	case x.Relu:
		w.MulRelu(out, w.N, a, w.K, rows, bias)
	default:
		w.Mul(out, w.N, a, w.K, rows, bias)
	}
}

func (x *Exec[T]) productOfSource(w *kernel.Weights[T], a []T, rows int, bias []T) {
	src := x.Source.Rows
	enter := x.Source.Enter
	if enter == nil {
		a = any(src).([]T)
		enter = func([]T, []float64) {}
	}
	part := func(row int) (from, to int) {
		return min(row, rows) * w.K, min(row+rowsAtOnce, rows) * w.K
	}
	from, to := part(0)
	enter(a[from:to], src[from:to])
	for row := 0; row < rows; row += rowsAtOnce {
		next, end := part(row + rowsAtOnce)
		n := min(rowsAtOnce, rows-row)
		w.MulAhead(x.Out[0].F[row*w.N:], w.N, a[row*w.K:], w.K, n, bias, x.Relu, src[next:end])
		enter(a[next:end], src[next:end])
	}
}

// productTakesSource reports whether a Gemm or MatMul computes by product alone.
func productTakesSource(n *graph.Node) bool {
	if EmbeddedOf(n) != nil {
		return false
	}
	if n.Key() == "MatMul" {
		return withBias(n)
	}
	_, column := n.Resolved.(Column)
	return oneProduct(n) && n.AttrInt("transA", 0) == 0 && !column
}
