package export

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// terms computes the terms of p as the outputs, in type kind. Terms with a basis of their own
// are computed in float64: thin plate and tensor bases cancel. Sums of a network's float32
// units, and lines in its float32 inputs, take as long as in the network, in float32, as long
// as they vary less than the predictor: they lose no more than the units have lost before.
// Operations on a matrix cost less than on its columns one by one, so terms go together.
func (w *writer) terms(p predictor, outputs []string, kind onnxpb.TensorProto_DataType) error {
	var faults []error
	lines := map[string]*linesOf{} // by input
	own := &columnsOf{}
	var inputs []string
	for i, t := range p.terms {
		var err error
		switch of := t.of.(type) {
		default:
			err = own.add(w, t, outputs[i])
		case *decompose.Tap:
			if len(t.margins) > 0 {
				err = own.add(w, t, outputs[i])
				break
			}
			err = w.learned(of, t, t.sd > p.sd, outputs[i], kind)
		case *decompose.LinearTerm:
			el, ok := w.bound[of.Column]
			if !ok || w.kindOf(of.Column) == "string" || len(t.margins) > 0 {
				err = own.add(w, t, outputs[i])
				break
			}
			if lines[el.Tensor] == nil {
				lines[el.Tensor], inputs = &linesOf{}, append(inputs, el.Tensor)
			}
			lines[el.Tensor].add(t, el.Index, t.sd > p.sd, outputs[i])
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

// columnsOf are terms that become columns of one matrix.
type columnsOf struct {
	effects []string // N x 1 each
	center  []float64
	outputs []string
}

// add computes a row of t's basis times its coefficients, and of its margins'.
func (g *columnsOf) add(w *writer, t term, output string) error {
	x, err := w.effect(output, t.of, t.coef)
	if err != nil {
		return err
	}
	if len(t.margins) > 0 {
		sum := []string{x}
		for _, m := range t.margins {
			y, err := w.effect(output+"."+m.Term.Name(), m.Term, m.Coef)
			if err != nil {
				return err
			}
			sum = append(sum, y)
		}
		x = w.Node("Sum", output+".pieces", sum)
	}
	g.effects, g.center, g.outputs = append(g.effects, x), append(g.center, t.center), append(g.outputs, output)
	return nil
}

// effect is a row of a basis times coefficients, in float64.
func (w *writer) effect(name string, of decompose.Term, coef []float64) (string, error) {
	tap, ok := of.(*decompose.Tap)
	if !ok {
		e, err := basis.Express(of)
		if err != nil {
			return "", err
		}
		return w.basis.Times(name, e, mat.NewDense(len(coef), 1, coef))
	}
	tensors, err := w.tapped(name, tap, len(coef))
	if err != nil {
		return "", err
	}
	var sums []string
	for _, p := range tensors {
		x := w.as(onnxpb.TensorProto_DOUBLE, name, p.x, p.kind)
		sums = append(sums, w.Node("MatMul", name+".units", []string{x, w.floats(onnxpb.TensorProto_DOUBLE, name+".coefficients", []int{p.n, 1}, coef[:p.n]...)}))
		coef = coef[p.n:]
	}
	if len(sums) == 1 {
		return sums[0], nil
	}
	return w.Node("Sum", name+".effect", sums), nil
}

// part are the next n columns of a learned basis.
type part struct {
	x, kind string // the tensor and its type
	n       int
}

// tapped are the columns of a learned basis, by the tensors that hold them.
func (w *writer) tapped(output string, tap *decompose.Tap, columns int) ([]part, error) {
	elements := w.tap(tap.Tensor)
	if len(elements) != columns {
		return nil, fmt.Errorf("its basis %q is not in the network", tap.Tensor)
	}
	var out []part
	for len(elements) > 0 {
		tensor, n := elements[0].Tensor, 0
		var places []int
		for n < len(elements) && elements[n].Tensor == tensor {
			places, n = append(places, elements[n].Index), n+1
		}
		x, err := w.elements(output, tensor, places...)
		if err != nil {
			return nil, err
		}
		of, _ := w.graph.Tensor(tensor)
		out, elements = append(out, part{x, of.Type, n}), elements[n:]
	}
	return out, nil
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

// floats adds a constant of that type.
func (w *writer) floats(kind onnxpb.TensorProto_DataType, name string, shape []int, values ...float64) string {
	return w.Node("Constant", name, nil, onnxpb.TensorAttr("value", kind, shape, values...))
}

// learned computes a learned basis times its coefficients less the centre; its columns are
// elements of tensors. large tells that it varies more than the predictor.
func (w *writer) learned(tap *decompose.Tap, t term, large bool, output string, kind onnxpb.TensorProto_DataType) error {
	coef := t.coef
	tensors, err := w.tapped(output, tap, len(coef))
	if err != nil {
		return err
	}
	var sums []string
	center := t.center
	for _, p := range tensors {
		own := onnxpb.TensorProto_FLOAT
		if p.kind == "double" || large {
			own = onnxpb.TensorProto_DOUBLE
		}
		inputs := []string{
			w.as(own, output, p.x, p.kind), w.floats(own, output+".coefficients", []int{p.n, 1}, coef[:p.n]...), w.floats(own, output+".center", []int{1}, -center),
		}
		if len(tensors) == 1 && own == kind {
			w.add("Gemm", w.newName(parts.Prefix+output+".output"), inputs, []string{output})
			return nil
		}
		x := w.Node("Gemm", output+".effect", inputs)
		sums = append(sums, w.as(kind, output+".effect", x, typeName(own)))
		coef, center = coef[p.n:], 0
	}
	w.add("Sum", w.newName(parts.Prefix+output+".output"), sums, []string{output})
	return nil
}
