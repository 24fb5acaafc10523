package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// writer adds the parts of predictors to a file.
type writer struct {
	*columns
	net *onnx.Model
	o   *Options
	own []parts.Output
	all int // predictors
}

// predictor writes the parts of predictor k.
func (w *writer) predictor(k int, p predictor) error {
	at := w.prefixed(p)
	eta, kind, err := w.predicted(at("eta"), k)
	if err != nil {
		return fmt.Errorf("predictor %q: %w", p.name, err)
	}
	var terms []string
	for _, t := range p.terms {
		terms = append(terms, w.output(at(t.of.Name()), kind, parts.Output{Predictor: p.name, Part: "term", Term: t.of.Name()}))
	}
	intercept := w.output(at("intercept"), kind, parts.Output{Predictor: p.name, Part: "intercept"})
	unstructured := w.output(at("unstructured"), kind, parts.Output{Predictor: p.name, Part: "unstructured"})
	last := w.output(at("eta"), kind, parts.Output{Predictor: p.name, Part: "eta"})
	if err := w.terms(p, terms, kind); err != nil {
		return err
	}
	w.constant(intercept, eta, p.intercept, kind)
	w.add("Identity", w.newName(parts.Prefix+last+".output"), []string{eta}, []string{last})
	rest := []string{eta, intercept}
	if len(terms) > 0 {
		deep := w.Node("Sub", at("deep"), rest)
		rest = []string{deep, w.Node("Sum", at("structured"), terms)}
	}
	w.add("Sub", w.newName(parts.Prefix+unstructured+".output"), rest, []string{unstructured})
	return nil
}

// prefixed names the parts of p: by themselves, or, of several predictors, behind its name.
func (w *writer) prefixed(p predictor) func(part string) string {
	if w.all == 1 {
		return func(part string) string { return part }
	}
	return func(part string) string { return p.name + "/" + part }
}

// predicted is what predictor k is, N x 1, in the type of its parts: the network's own, or
// the mixture of its predictors, summed up in float64.
func (w *writer) predicted(name string, k int) (x string, kind onnxpb.TensorProto_DataType, err error) {
	if w.o.Mixtures == nil {
		return w.eta(name, w.net.Predictor(k))
	}
	var terms []string
	var coef []float64
	for l, v := range w.o.Mixtures[k] {
		if v == 0 {
			continue
		}
		own, of, err := w.eta(fmt.Sprintf("%s.%d", name, l), w.net.Predictor(l))
		if err != nil {
			return "", 0, err
		}
		if v == 1 && slices.IndexFunc(w.o.Mixtures[k], func(c float64) bool { return c != 0 && c != 1 }) < 0 {
			return own, of, nil // a predictor of no class
		}
		terms, coef, kind = append(terms, w.as(onnxpb.TensorProto_DOUBLE, own, own, typeName(of))), append(coef, v), of
	}
	all := w.once("classes "+strings.Join(terms, " "), func() string { return w.Node("Concat", name+".classes", terms, onnxpb.Int("axis", 1)) })
	mixed := w.Node("MatMul", name+".mixed", []string{all, w.Doubles(name+".mixture", []int{len(coef), 1}, coef...)})
	return w.as(kind, name, mixed, "double"), kind, nil
}

// tap are the elements of a learned basis, of those side by side one after the other.
func (w *writer) tap(name string) []onnx.Element {
	joined, ok := w.o.Joined[name]
	if !ok {
		return w.net.Tap(name)
	}
	var all []onnx.Element
	for _, own := range joined {
		all = append(all, w.net.Tap(own)...)
	}
	return all
}

// eta is a predictor as the network has it, N x 1, in the type of its parts.
func (w *writer) eta(name string, at onnx.Element) (x string, kind onnxpb.TensorProto_DataType, err error) {
	if x, err = w.elements(name, at.Tensor, at.Index); err != nil {
		return "", 0, err
	}
	t, _ := w.graph.Tensor(at.Tensor)
	if kind = onnxpb.TensorProto_FLOAT; t.Type == "double" {
		kind = onnxpb.TensorProto_DOUBLE
	}
	return w.as(kind, name, x, t.Type), kind, nil
}

// output makes what will be computed under a name like that an output of the file.
func (w *writer) output(name string, kind onnxpb.TensorProto_DataType, o parts.Output) string {
	o.Name = w.outputName(name)
	w.model.Graph.Output = append(w.model.Graph.Output, &onnxpb.ValueInfoProto{Name: o.Name, Type: tensorType(kind, w.batch, one())})
	w.own = append(w.own, o)
	return o.Name
}

// split makes the columns of x the tensors of these names, one each.
func (w *writer) split(name, x string, outputs []string) {
	if len(outputs) == 1 {
		w.add("Identity", w.newName(parts.Prefix+name+".output"), []string{x}, outputs)
		return
	}
	inputs, attrs := []string{x}, []onnxpb.Attr{onnxpb.Int("axis", 1)}
	ones := slices.Repeat([]int64{1}, len(outputs))
	if w.opset("") < 13 {
		attrs = append(attrs, onnxpb.Ints("split", ones...))
	} else {
		inputs = append(inputs, w.Ints(name+".sizes", ones...))
	}
	w.add("Split", w.newName(parts.Prefix+name+".split"), inputs, outputs, attrs...)
}

// constant is v in as many rows as x (N x 1) has, as the output of that name.
func (w *writer) constant(output, x string, v float64, kind onnxpb.TensorProto_DataType) {
	if w.opset("") >= 9 {
		shape := w.Node("Shape", output+".shape", []string{x})
		w.add("ConstantOfShape", w.newName(parts.Prefix+output+".output"), []string{shape}, []string{output}, onnxpb.TensorAttr("value", kind, []int{1}, v))
		return
	}
	never := w.Node("Greater", output+".never", []string{x, w.floats(kind, output+".infinity", nil, math.Inf(1))})
	zeros := w.Node("Cast", output+".zeros", []string{never}, onnxpb.Int("to", int64(kind)))
	w.add("Add", w.newName(parts.Prefix+output+".output"), []string{zeros, w.floats(kind, output+".value", nil, v)}, []string{output})
}

// as is x, of that type, in the type kind.
func (w *writer) as(kind onnxpb.TensorProto_DataType, name, x, from string) string {
	to := typeName(kind)
	if from == to {
		return x
	}
	return w.once(to+" "+x, func() string { return w.Node("Cast", name+"."+to, []string{x}, onnxpb.Int("to", int64(kind))) })
}

// typeName is a floating type as onnx.Tensor has it.
func typeName(kind onnxpb.TensorProto_DataType) string {
	if kind == onnxpb.TensorProto_DOUBLE {
		return "double"
	}
	return "float"
}
