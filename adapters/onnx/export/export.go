// Package export writes a decomposition into the ONNX file of its network: the network's
// own graph and outputs as they are, and an output for every part of every predictor. Any
// runtime then computes predictions and contributions in one run.
package export

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/onnxpb"
)

// Write writes to w the file of the network m, with the parts of r as further outputs, each
// N x 1 and of the predictor's type (float64, else float32): TERM for every term, intercept,
// unstructured and eta, which is their sum; PREDICTOR/TERM and so on if there are several
// predictors. A name that the file uses otherwise becomes pho/NAME. The metadata entry
// onnx.MetadataStructure says which outputs are parts; package onnx passes them over.
//
// Terms are computed in float64, and rounded at the end, from the network's own inputs, in
// their types. A column that it does not read becomes an input of its own, N x 1 and
// float64, or string if a level is no number. A level that a term does not know makes its
// value NaN. The file keeps its opset.
//
// file is what m was loaded from; parts that it holds already are replaced. All that cannot
// be written is told at once.
func Write(w io.Writer, file []byte, m *onnx.Model, r *decompose.Result) error {
	f, err := build(file, m, result(r))
	if err != nil {
		return err
	}
	size := proto.Size(f.model)
	if size > math.MaxInt32 {
		return fmt.Errorf("onnx: the network with its parts would take %d bytes, and an ONNX file has 2 GiB at most", size)
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(f.model)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// Check refuses what Write could not write of the network m, whose file that is, and of the
// terms of with: m itself, or m with the terms of formulas. It reads no rows.
func Check(file []byte, m *onnx.Model, with decompose.Model) error {
	_, err := build(file, m, planned(with))
	return err
}

// predictor is what is written of one.
type predictor struct {
	name      string
	intercept float64
	terms     []term
}

// term is a basis, its coefficients and what is subtracted from their product.
type term struct {
	of     decompose.Term
	coef   []float64
	center float64
}

// result lists what r says.
func result(r *decompose.Result) []predictor {
	var out []predictor
	for _, p := range r.Predictors {
		own := predictor{name: p.Name, intercept: p.Intercept}
		for i := range p.Terms {
			t := &p.Terms[i]
			coef := make([]float64, len(t.Alpha))
			for j := range coef {
				coef[j] = t.Alpha[j]
				if j < len(t.Beta) {
					coef[j] += t.Beta[j]
				}
			}
			own.terms = append(own.terms, term{t.Term(), coef, t.Center})
		}
		out = append(out, own)
	}
	return out
}

// planned lists what a model will be decomposed into.
func planned(m decompose.Model) []predictor {
	var out []predictor
	for k, name := range m.Predictors() {
		own := predictor{name: name}
		for _, b := range m.Blocks(k) {
			own.terms = append(own.terms, term{b.Term, make([]float64, b.Term.Dim()), 0})
		}
		out = append(out, own)
	}
	return out
}

// writer adds the parts to a file.
type writer struct {
	*columns
	net *onnx.Model
	own []parts.Output
}

func build(raw []byte, m *onnx.Model, all []predictor) (*file, error) {
	f, err := read(raw)
	if err != nil {
		return nil, err
	}
	f.imports("", fallback(f.model.GetIrVersion()))
	c, err := newColumns(f, m)
	if err != nil {
		return nil, err
	}
	c.basis = onnxbasis.New(c, c)
	w := &writer{columns: c, net: m}
	if len(all) != len(m.Predictors()) {
		return nil, fmt.Errorf("onnx: the decomposition has %d predictors and the network %d", len(all), len(m.Predictors()))
	}
	var faults []error
	for _, p := range all {
		for _, t := range p.terms {
			if e, err := basis.Express(t.of); err == nil {
				c.findText(e)
			}
		}
	}
	for k, p := range all {
		if err := w.predictor(k, p); err != nil {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(append(faults, f.faults...)...); err != nil {
		return nil, fmt.Errorf("onnx: the decomposition cannot be written into the network's file: %w", err)
	}
	return f, (&parts.Parts{Inputs: c.inputs, Outputs: w.own}).Add(f.model, onnx.DeclarationFormat)
}

// fallback is an opset of ai.onnx for a file that imports none of it, of that IR version.
func fallback(ir int64) int64 {
	switch {
	case ir < 4:
		return 8
	case ir < 7:
		return 9
	}
	return 13
}

// predictor writes the parts of predictor k.
func (w *writer) predictor(k int, p predictor) error {
	el := w.net.Predictor(k)
	t, ok := w.graph.Tensor(el.Tensor)
	if !ok {
		return fmt.Errorf("predictor %q: %w", p.name, notInFile(el.Tensor))
	}
	eta, err := w.elements(p.name, el.Tensor, el.Index)
	if err != nil {
		return fmt.Errorf("predictor %q: %w", p.name, err)
	}
	var faults []error
	at := func(name string) string { return name }
	if len(w.net.Predictors()) > 1 {
		at = func(name string) string { return p.name + "/" + name }
	}
	kind := onnxpb.TensorProto_FLOAT
	if t.Type == "double" {
		kind = onnxpb.TensorProto_DOUBLE
	}
	exact := w.double(at("eta"), eta, t.Type)
	structured := w.constant(at("intercept"), exact, p.intercept)
	first := structured
	var outputs []parts.Output
	values := []string{}
	for _, t := range p.terms {
		name := t.of.Name()
		x, err := w.term(at(name), t)
		if err != nil {
			faults = append(faults, fmt.Errorf("term %q of predictor %q: %w", name, p.name, err))
			continue
		}
		outputs, values = append(outputs, parts.Output{Name: at(name), Predictor: p.name, Part: "term", Term: name}), append(values, x)
		structured = w.Node("Add", at("structured"), []string{structured, x})
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	rest := w.Node("Sub", at("remainder"), []string{exact, structured})
	for i, part := range []string{"intercept", "unstructured", "eta"} {
		outputs, values = append(outputs, parts.Output{Name: at(part), Predictor: p.name, Part: part}), append(values, []string{first, rest, exact}[i])
	}
	for i := range outputs {
		w.output(&outputs[i], values[i], kind)
	}
	return nil
}

// output makes x (float64, N x 1) an output of the file.
func (w *writer) output(o *parts.Output, x string, kind onnxpb.TensorProto_DataType) {
	node := w.newName(parts.Prefix + o.Name + ".output")
	o.Name = w.outputName(o.Name)
	w.add("Cast", node, []string{x}, []string{o.Name}, onnxpb.Int("to", int64(kind)))
	w.model.Graph.Output = append(w.model.Graph.Output, &onnxpb.ValueInfoProto{Name: o.Name, Type: tensorType(kind, w.batch, one())})
	w.own = append(w.own, *o)
}

// double is x, of that type, as float64.
func (w *writer) double(name, x, kind string) string {
	if kind == "double" {
		return x
	}
	return w.once("double "+x, func() string {
		return w.Node("Cast", name+".double", []string{x}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	})
}

// constant is v in as many rows as x has: comparing with infinity gives 0 for any number.
func (w *writer) constant(name, x string, v float64) string {
	never := w.Node("Greater", name+".never", []string{x, w.Doubles(name+".infinity", nil, math.Inf(1))})
	zeros := w.Node("Cast", name+".zeros", []string{never}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	return w.Node("Add", name+".rows", []string{zeros, w.Doubles(name+".value", nil, v)})
}

// term is the contribution of a term, float64 and N x 1.
func (w *writer) term(name string, t term) (string, error) {
	x, err := w.effect(name, t)
	if err != nil {
		return "", err
	}
	return w.Node("Sub", name+".centred", []string{x, w.Doubles(name+".center", nil, t.center)}), nil
}

// effect is a row of the term's basis times its coefficients.
func (w *writer) effect(name string, t term) (string, error) {
	coef := mat.NewDense(len(t.coef), 1, t.coef)
	if tap, ok := t.of.(*decompose.Tap); ok {
		return w.learned(name, tap, t.coef)
	}
	e, err := basis.Express(t.of)
	if err != nil {
		return "", err
	}
	return w.basis.Times(name, e, coef)
}

// learned is a learned basis times its coefficients: its columns are elements of tensors.
func (w *writer) learned(name string, tap *decompose.Tap, coef []float64) (string, error) {
	elements := w.net.Tap(tap.Tensor)
	if len(elements) != len(coef) {
		return "", fmt.Errorf("its basis %q is not in the network", tap.Tensor)
	}
	sum := ""
	for len(elements) > 0 {
		tensor, n := elements[0].Tensor, 0
		var at []int
		for n < len(elements) && elements[n].Tensor == tensor {
			at, n = append(at, elements[n].Index), n+1
		}
		x, err := w.elements(name, tensor, at...)
		if err != nil {
			return "", err
		}
		of, _ := w.graph.Tensor(tensor)
		x = w.Node("MatMul", name+".effect", []string{w.double(name, x, of.Type), w.Doubles(name+".coefficients", []int{n, 1}, coef[:n]...)})
		if sum != "" {
			x = w.Node("Add", name+".sum", []string{sum, x})
		}
		sum, elements, coef = x, elements[n:], coef[n:]
	}
	return sum, nil
}
