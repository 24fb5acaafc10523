package export

import (
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// linesOf are terms that are linear in elements of one input.
type linesOf struct {
	places  []int // the elements
	coef    []float64
	center  []float64
	outputs []string
	large   bool // one varies more than the predictor: they cancel, as entangled terms do
}

func (g *linesOf) add(t term, place int, large bool, output string) {
	g.places, g.coef, g.center = append(g.places, place), append(g.coef, t.coef[0]), append(g.center, t.center)
	g.outputs, g.large = append(g.outputs, output), g.large || large
}

// widest is how wide an input is at most for a product with a matrix, which is mostly 0, to
// cost less than three operations element by element.
const widest = 64

// linear computes lines in elements of an input: x coef - center.
func (w *writer) linear(input string, g *linesOf, sd float64, kind onnxpb.TensorProto_DataType) error {
	t, _ := w.graph.Tensor(input)
	width := t.Width()
	read, at := g.places, ranks(len(g.places)) // which elements are read, and where each line's is then
	if width <= widest {
		read, at = ranks(width), g.places
	}
	x, err := w.elements(input, input, read...)
	if err != nil {
		return err
	}
	own := onnxpb.TensorProto_FLOAT
	if t.Type != "float" || g.large { // whole numbers may be larger than float32 holds
		own = onnxpb.TensorProto_DOUBLE
		x = w.as(own, input, x, t.Type)
	}
	name, n := g.outputs[0]+".line", len(g.outputs)
	constant := func(what string, values []float64, shape ...int) string {
		return w.floats(own, name+"."+what, shape, values...)
	}
	middle, rest := g.middle(own, sd)
	if middle != nil {
		all := make([]float64, len(read))
		for i, m := range middle {
			all[at[i]] = m
		}
		x = w.Node("Sub", name+".from", []string{x, constant("middle", all, len(all))})
	}
	if width <= widest {
		slopes, less := make([]float64, width*n), make([]float64, n)
		for i, c := range g.coef {
			slopes[at[i]*n+i], less[i] = c, -rest[i]
		}
		x = w.Node("Gemm", name, []string{x, constant("slopes", slopes, width, n), constant("rest", less, n)})
	} else {
		x = w.Node("Mul", name+".slope", []string{x, constant("slopes", g.coef, n)})
		x = w.Node("Sub", name, []string{x, constant("rest", rest, n)})
	}
	w.split(name, w.as(kind, name, x, typeName(own)), g.outputs)
	return nil
}

// ranks is 0, 1, ..., n-1.
func ranks(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// middle is the point that is subtracted from the elements before they are multiplied, and the rest
// that is then to subtract from the products. In float32 a line far from 0 would lose digits: the
// elements' middle is subtracted first. nil: nothing, since no centre is large for a predictor of
// that standard deviation.
func (g *linesOf) middle(kind onnxpb.TensorProto_DataType, sd float64) (middle, rest []float64) {
	rest = slices.Clone(g.center)
	if kind == onnxpb.TensorProto_DOUBLE || !slices.ContainsFunc(g.center, func(c float64) bool { return math.Abs(c) > sd }) {
		return nil, rest
	}
	middle = make([]float64, len(g.coef))
	for i, c := range g.coef {
		if c != 0 {
			middle[i] = float64(float32(g.center[i] / c))
			rest[i] -= middle[i] * c
		}
	}
	return middle, rest
}
