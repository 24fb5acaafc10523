package export

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/onnxpb"
)

// terms computes the terms of p as the outputs, in type kind. Terms with a basis of their own
// are computed in float64: thin plate and tensor bases cancel. Sums of a network's float32
// units, and lines in its float32 inputs, take as long as in the network, in float32, as long
// as they vary less than the predictor: they lose no more than the units have lost before.
// Operations on a matrix cost less than on its columns one by one, so terms go together.
func (w *writer) terms(p predictor, outputs []string, kind onnxpb.TensorProto_DataType) error {
	var faults []error
	lines := map[string]*columnsOf{} // by input
	own := &columnsOf{}
	var inputs []string
	for i, t := range p.terms {
		var err error
		switch of := t.of.(type) {
		case *decompose.Tap:
			err = w.learned(of, t, t.sd > p.sd, outputs[i], kind)
		case *decompose.LinearTerm:
			el, ok := w.bound[of.Column]
			if !ok || w.kindOf(of.Column) == "string" {
				err = own.add(w, t, outputs[i])
				break
			}
			if lines[el.Tensor] == nil {
				lines[el.Tensor], inputs = &columnsOf{}, append(inputs, el.Tensor)
			}
			g := lines[el.Tensor]
			g.places, g.coef = append(g.places, el.Index), append(g.coef, t.coef[0])
			g.center, g.outputs = append(g.center, t.center), append(g.outputs, outputs[i])
			g.large = g.large || t.sd > p.sd
		default:
			err = own.add(w, t, outputs[i])
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("term %q of predictor %q: %w", t.of.Name(), p.name, err))
		}
	}
	for _, input := range inputs {
		faults = append(faults, w.linear(input, lines[input], p.sd, kind))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	w.centred(own, kind)
	return nil
}

// columnsOf are terms that are columns of one matrix.
type columnsOf struct {
	effects []string // N x 1 each
	places  []int    // or elements of an input, to be multiplied with coef
	coef    []float64
	center  []float64
	outputs []string
	large   bool // one varies more than the predictor: they cancel, as entangled terms do
}

// add computes a row of t's basis times its coefficients.
func (g *columnsOf) add(w *writer, t term, output string) error {
	e, err := basis.Express(t.of)
	if err != nil {
		return err
	}
	x, err := w.basis.Times(output, e, mat.NewDense(len(t.coef), 1, t.coef))
	g.effects, g.center, g.outputs = append(g.effects, x), append(g.center, t.center), append(g.outputs, output)
	return err
}

// centred subtracts the centres from effects in float64, and rounds.
func (w *writer) centred(g *columnsOf, kind onnxpb.TensorProto_DataType) {
	if len(g.effects) == 0 {
		return
	}
	name := g.outputs[0]
	x := g.effects[0]
	if len(g.effects) > 1 {
		x = w.Node("Concat", name+".effects", g.effects, onnxpb.Int("axis", 1))
	}
	x = w.Node("Sub", name+".centred", []string{x, w.Doubles(name+".centers", []int{len(g.center)}, g.center...)})
	w.split(name, w.as(kind, name, x, "double"), g.outputs)
}

// widest is how wide an input is at most for a product with a matrix, which is mostly 0, to
// cost less than three operations element by element.
const widest = 64

// linear computes lines in elements of an input: x coef - center.
func (w *writer) linear(input string, g *columnsOf, sd float64, kind onnxpb.TensorProto_DataType) error {
	t, _ := w.graph.Tensor(input)
	places, width := g.places, t.Width()
	if width <= widest {
		places = make([]int, width) // all of them
		for i := range places {
			places[i] = i
		}
	}
	x, err := w.elements(input, input, places...)
	if err != nil {
		return err
	}
	own, from := onnxpb.TensorProto_FLOAT, "float"
	if t.Type != "float" || g.large { // whole numbers may be larger than float32 holds
		own, from = onnxpb.TensorProto_DOUBLE, "double"
		x = w.as(own, input, x, t.Type)
	}
	name, n := g.outputs[0]+".line", len(g.coef)
	middle, rest := g.middle(own, sd)
	if middle != nil {
		at := middle
		if width <= widest {
			at = make([]float64, width)
			for i, m := range middle {
				at[g.places[i]] = m
			}
		}
		x = w.Node("Sub", name+".from", []string{x, w.floats(own, name+".middle", []int{len(at)}, at...)})
	}
	if width <= widest {
		slopes := make([]float64, width*n)
		for i, c := range g.coef {
			slopes[g.places[i]*n+i] = c
		}
		for i := range rest {
			rest[i] = -rest[i]
		}
		x = w.Node("Gemm", name, []string{x, w.floats(own, name+".slopes", []int{width, n}, slopes...), w.floats(own, name+".rest", []int{n}, rest...)})
	} else {
		x = w.Node("Mul", name+".slope", []string{x, w.floats(own, name+".slopes", []int{n}, g.coef...)})
		x = w.Node("Sub", name, []string{x, w.floats(own, name+".rest", []int{n}, rest...)})
	}
	w.split(name, w.as(kind, name, x, from), g.outputs)
	return nil
}

// middle is what to subtract from the elements before they are multiplied, and what then is
// left to subtract from the products. In float32 a line far from 0 would lose digits: the
// elements' middle is subtracted first. nil: nothing, since no centre is large for a
// predictor of that standard deviation.
func (g *columnsOf) middle(kind onnxpb.TensorProto_DataType, sd float64) (middle, rest []float64) {
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

// floats adds a constant of that type.
func (w *writer) floats(kind onnxpb.TensorProto_DataType, name string, shape []int, values ...float64) string {
	return w.Node("Constant", name, nil, onnxpb.TensorAttr("value", kind, shape, values...))
}

// learned computes a learned basis times its coefficients less the centre; its columns are
// elements of tensors. large tells that it varies more than the predictor.
func (w *writer) learned(tap *decompose.Tap, t term, large bool, output string, kind onnxpb.TensorProto_DataType) error {
	elements, coef := w.net.Tap(tap.Tensor), t.coef
	if len(elements) != len(coef) {
		return fmt.Errorf("its basis %q is not in the network", tap.Tensor)
	}
	var sums []string
	center, whole := t.center, len(elements)
	for len(elements) > 0 {
		tensor, n := elements[0].Tensor, 0
		var places []int
		for n < len(elements) && elements[n].Tensor == tensor {
			places, n = append(places, elements[n].Index), n+1
		}
		x, err := w.elements(output, tensor, places...)
		if err != nil {
			return err
		}
		of, _ := w.graph.Tensor(tensor)
		own := onnxpb.TensorProto_FLOAT
		if of.Type == "double" || large {
			own = onnxpb.TensorProto_DOUBLE
		}
		inputs := []string{
			w.as(own, output, x, of.Type), w.floats(own, output+".coefficients", []int{n, 1}, coef[:n]...), w.floats(own, output+".center", []int{1}, -center),
		}
		if n == whole && own == kind {
			w.add("Gemm", w.newName(parts.Prefix+output+".output"), inputs, []string{output})
			return nil
		}
		x = w.Node("Gemm", output+".effect", inputs)
		from := map[bool]string{true: "double", false: "float"}[own == onnxpb.TensorProto_DOUBLE]
		sums = append(sums, w.as(kind, output+".effect", x, from))
		elements, coef, center = elements[n:], coef[n:], 0
	}
	w.add("Sum", w.newName(parts.Prefix+output+".output"), sums, []string{output})
	return nil
}
