package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// MetadataSurrogate is the entry of a surrogate's metadata that says what it leaves out: a JSON object of
// SurrogateInfo.
const MetadataSurrogate = "pho.surrogate"

// SurrogateInfo says what a surrogate leaves out.
type SurrogateInfo struct {
	Format     string               `json:"format"` // pho.surrogate/1
	Rows       int64                `json:"rows"`   // of the decomposition
	Predictors []SurrogatePredictor `json:"predictors"`
}

// SurrogatePredictor is a predictor of the decomposition: over its rows, eta of the model is that of the surrogate and
// an unstructured part of this variance.
type SurrogatePredictor struct {
	Name     string             `json:"name"`
	Variance decompose.Variance `json:"variance"`
}

// Surrogate writes to w the structured part of r as an ONNX file of its own: for a model without such a file, or if its remainder
// is not wanted. Its inputs are the data columns that terms read, each N x 1 and float64, or string if a level is no number. Its
// outputs are N x 1 and float64: TERM for every term, intercept, and eta, which is their sum and all of the model's eta but its
// unstructured part; PREDICTOR/TERM and so on if there are several predictors. Where the model's response is a function of eta
// that ONNX has (sigmoid, exp, softplus, cloglog; the softmax of all predictors, if together says that they are its classes), the
// output response is that of the surrogate's eta. Terms are computed as Write computes them. MetadataSurrogate says how large the
// unstructured part is.
//
// All that cannot be written is told at once: a term that only the model computes, one without an expression.
func Surrogate(w io.Writer, r *decompose.Result, together bool) error {
	heads := make([]string, len(r.Predictors))
	info := SurrogateInfo{Format: "pho.surrogate/1", Rows: r.Rows}
	for k := range r.Predictors {
		heads[k] = r.Predictors[k].Head
		info.Predictors = append(info.Predictors, SurrogatePredictor{r.Predictors[k].Name, r.Predictors[k].Variance})
	}
	f, err := surrogate(result(r), heads, together)
	if err != nil {
		return err
	}
	text, err := json.Marshal(info)
	if err != nil {
		return err
	}
	f.model.MetadataProps = append(f.model.MetadataProps, &onnxpb.StringStringEntryProto{Key: MetadataSurrogate, Value: string(text)})
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(f.model)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// CheckSurrogate refuses what Surrogate could not write of the terms of with, if it has some. It reads no rows.
func CheckSurrogate(with decompose.Model) error {
	all := planned(with)
	if !slices.ContainsFunc(all, func(p predictor) bool { return len(p.terms) > 0 }) {
		return nil
	}
	_, err := surrogate(all, make([]string, len(all)), false)
	return err
}

// surrogate is the file, without what it says of the remainder.
func surrogate(all []predictor, heads []string, together bool) (*file, error) {
	empty, err := proto.Marshal(onnxpb.NewBuilder(17).Model())
	if err != nil {
		return nil, err
	}
	f, err := read(File{Model: empty})
	if err != nil {
		return nil, err
	}
	c := &columns{file: f, bound: map[string]onnx.Element{}, text: map[string]bool{}, added: map[string]string{}, done: map[string]string{}, batch: rowsAxis()}
	c.basis = onnxbasis.New(c, c)
	w := &writer{columns: c, o: &Options{}, all: len(all)}
	c.addInputs(all)
	if len(c.inputs) == 0 {
		return nil, fmt.Errorf("onnx: the structured part cannot be written: no term reads a column, so it is a constant")
	}
	var faults []error
	var etas []string
	for _, p := range all {
		eta, err := w.structured(p)
		faults, etas = append(faults, err), append(etas, eta)
	}
	if err := errors.Join(append(faults, f.faults...)...); err != nil {
		return nil, fmt.Errorf("onnx: the structured part cannot be written: %w", err)
	}
	w.responses(etas, all, heads, together)
	if err := (&parts.Parts{Outputs: w.own}).Add(f.model, onnx.DeclarationFormat); err != nil {
		return nil, err
	}
	return f, f.fits(maxFile)
}

// structured writes the terms of p and their sum, whose name it returns.
func (w *writer) structured(p predictor) (string, error) {
	at := w.prefixed(p)
	for _, t := range p.terms {
		if _, ok := t.of.(*decompose.Tap); ok {
			return "", fmt.Errorf("term %q of predictor %q is learned: only the model computes it", t.of.Name(), p.name)
		}
	}
	const kind = onnxpb.TensorProto_DOUBLE
	var terms []string
	for _, t := range p.terms {
		terms = append(terms, w.output(at(t.of.Name()), kind, parts.Output{Predictor: p.name, Part: "term", Term: t.of.Name()}))
	}
	intercept := w.output(at("intercept"), kind, parts.Output{Predictor: p.name, Part: "intercept"})
	eta := w.plain(at("eta"), one())
	if err := w.terms(p, terms, kind); err != nil {
		return "", err
	}
	w.constant(intercept, w.inputs[0], p.intercept, kind)
	w.add("Sum", w.newName(parts.Prefix+eta+".output"), append([]string{intercept}, terms...), []string{eta})
	return eta, nil
}

// responses writes what predictors are on the scale of the response, as far as ONNX has it; eta is a part then, so that a reader
// finds it once.
func (w *writer) responses(etas []string, all []predictor, heads []string, together bool) {
	part := func(k int) {
		w.own = append(w.own, parts.Output{Name: etas[k], Predictor: all[k].name, Part: "eta"})
	}
	if together && len(all) > 1 && !slices.ContainsFunc(heads, func(h string) bool { return h != "softmax" && h != "logsoftmax" }) {
		out := w.plain("response", &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(len(all))}})
		x := w.Node("Concat", "classes", etas, onnxpb.Int("axis", 1))
		w.add("Softmax", w.newName(parts.Prefix+out+".output"), []string{x}, []string{out}, onnxpb.Int("axis", 1))
		for k := range all {
			part(k)
		}
		return
	}
	for k, p := range all {
		op, from := w.response(heads[k], etas[k])
		if op == "" {
			continue
		}
		out := w.plain(w.prefixed(p)("response"), one())
		w.add(op, w.newName(parts.Prefix+out+".output"), from, []string{out})
		part(k)
	}
}

// response writes what the last node, op, makes the response from; "": ONNX has none of the head.
func (w *writer) response(head, eta string) (op string, from []string) {
	node := func(op string, from ...string) string { return w.Node(op, "response", from) }
	switch head {
	case "sigmoid":
		return "Sigmoid", []string{eta}
	case "exp":
		return "Exp", []string{eta}
	case "softplus": // max(eta, 0) + log(1 + exp(-|eta|)): ONNX Runtime has no Softplus of float64
		rest := node("Exp", node("Neg", node("Abs", eta)))
		return "Add", []string{node("Relu", eta), node("Log", node("Add", w.Doubles("one", []int{1}, 1), rest))}
	case "inv_cloglog": // 1 - exp(-exp(eta))
		return "Sub", []string{w.Doubles("one", []int{1}, 1), node("Exp", node("Neg", node("Exp", eta)))}
	}
	return "", nil
}

// plain makes what will be computed under a name like that an output that is no part: N x width, float64.
func (w *writer) plain(name string, width *onnxpb.TensorShapeProto_Dimension) string {
	name = w.outputName(name)
	w.model.Graph.Output = append(w.model.Graph.Output, &onnxpb.ValueInfoProto{Name: name, Type: tensorType(onnxpb.TensorProto_DOUBLE, w.batch, width)})
	return name
}
