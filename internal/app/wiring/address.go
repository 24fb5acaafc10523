package wiring

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Asked is a model behind an address: its predictions are asked for there (package served), and then known as
// those of Predictions are.
type Asked struct {
	server  *served.Server
	form    *served.Form    // nil: it was not asked yet (Network.Settle)
	graph   *onnx.Graph     // of its answers; nil: likewise
	inputs  []served.Input  // that the server names; none: it names none
	outputs []served.Output // that somebody chose; none: nobody did
	classes []string        // names of classes that somebody gave
	kept    *served.Kept    // answers; nil: none are kept
}

// Answers say what to take from a model behind an address.
type Answers struct {
	Link    string   // eta = link(answer), one of onnx.PredictionLinks; "": identity
	Clip    float64  // as in Predictions
	Outputs []string // by name; none: the one that there is
	Classes []string // names of the classes, in the order of their probabilities; none: 0, 1, ...
}

// Ask is the model behind an address, whose server is asked for its inputs. How it is asked, and with which token, the environment
// says (served.FromEnvironment).
func Ask(ctx context.Context, address string, a Answers) (*Network, error) {
	if len(a.Classes) > 0 && a.Link != "softmax" {
		return nil, optionError("classes", fmt.Errorf("the link is %s: classes have probabilities, whose link is softmax", cmp.Or(a.Link, "identity")))
	}
	n, err := ask(address, &Predictions{Link: cmp.Or(a.Link, "identity"), Clip: a.Clip})
	if err != nil {
		return nil, err
	}
	said, err := n.Asked.server.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	n.Asked.inputs, n.Asked.classes = said.Inputs, a.Classes
	if len(a.Outputs) == 0 && len(said.Outputs) == 1 {
		a.Outputs = said.Outputs
	}
	for _, name := range a.Outputs {
		n.Asked.outputs = append(n.Asked.outputs, served.Output{Name: name})
	}
	n.Graph, err = n.Asked.declared()
	return n, err
}

// ask is the model without what it answers.
func ask(address string, p *Predictions) (*Network, error) {
	o, err := served.FromEnvironment()
	if err != nil {
		return nil, err
	}
	s, err := served.At(address, o)
	if err != nil {
		return nil, err
	}
	return &Network{Path: s.Address(), Predictions: p, Asked: &Asked{server: s}}, nil
}

// frame is the input of servers that name none: the columns of the rows.
func (a *Asked) frame() string {
	if a.server.Protocol() == served.MLflow {
		return "dataframe_split"
	}
	return "input"
}

// tensorTypes are those of ONNX, by datatype of the Open Inference Protocol.
func tensorTypes() map[string]onnxpb.TensorProto_DataType {
	return map[string]onnxpb.TensorProto_DataType{
		"BOOL": onnxpb.TensorProto_BOOL, "BYTES": onnxpb.TensorProto_STRING,
		"INT8": onnxpb.TensorProto_INT8, "INT16": onnxpb.TensorProto_INT16, "INT32": onnxpb.TensorProto_INT32, "INT64": onnxpb.TensorProto_INT64,
		"UINT8": onnxpb.TensorProto_UINT8, "UINT16": onnxpb.TensorProto_UINT16, "UINT32": onnxpb.TensorProto_UINT32, "UINT64": onnxpb.TensorProto_UINT64,
		"FP16": onnxpb.TensorProto_FLOAT16, "FP32": onnxpb.TensorProto_FLOAT, "FP64": onnxpb.TensorProto_DOUBLE,
	}
}

// declared is a graph with the model's inputs, by which they are bound to columns. It is never run.
func (a *Asked) declared() (*onnx.Graph, error) {
	inputs := a.inputs
	if len(inputs) == 0 || inputs[0].Datatype == "" {
		inputs = []served.Input{{Name: a.frame(), Datatype: "FP64"}}
	}
	b, types := onnxpb.NewBuilder(17), tensorTypes()
	for i, in := range inputs {
		t, known := types[in.Datatype]
		if !known {
			return nil, fmt.Errorf("model %q: its input %q is of type %q, which is none of the Open Inference Protocol", a.server.Address(), in.Name, in.Datatype)
		}
		width := max(in.Width, 1)
		b.AddInput(in.Name, t, onnxpb.Rows, width)
		out := fmt.Sprintf("pho/%d", i)
		b.AddNode("Identity", []string{in.Name}, out)
		b.Output(out, t, onnxpb.Rows, width)
	}
	file, err := b.Marshal()
	if err != nil {
		return nil, fmt.Errorf("model %q: its inputs: %w", a.server.Address(), err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		return nil, fmt.Errorf("model %q: its inputs: %w", a.server.Address(), err)
	}
	return g, nil
}

// form finds the columns of the inputs: those that named has, by input; those that are called like the inputs (onnx.Bind); else, if the server
// does not say how many it takes, all that are not in taken.
func (n *Network) form(schema data.Schema, named map[string][]string, taken []string) (served.Form, error) {
	a := n.Asked
	f := served.Form{Protocol: a.server.Protocol(), Outputs: a.outputs}
	free := func(numbers, texts bool) (names []string) {
		for _, c := range schema {
			if !c.Refused && c.Unit == "" && c.Width == 0 && !data.NamesRows(c.Name) && !slices.Contains(taken, c.Name) && (numbers && c.Numeric || texts && !c.Numeric) {
				names = append(names, c.Name)
			}
		}
		return names
	}
	if len(a.inputs) == 0 {
		columns := named[a.frame()]
		if columns == nil {
			columns = free(true, true)
		}
		if len(columns) == 0 {
			return f, fmt.Errorf("model %q: the data have no columns that it could read", n.Path)
		}
		f.Inputs, f.Frame = a.rows(columns, schema)
		return f, schema.Require("the data", columns)
	}
	f.Inputs = slices.Clone(a.inputs)
	if !slices.ContainsFunc(f.Inputs, func(in served.Input) bool { return in.Width == 0 }) {
		bind, err := onnx.Bind(n.Graph, schema, named, taken...)
		for i, in := range bind {
			f.Inputs[i].Columns = in.Columns
		}
		return f, err
	}
	for i, in := range f.Inputs {
		columns := named[in.Name]
		if c, ok := schema.Lookup(in.Name); columns == nil && ok {
			columns = []string{c.Name}
		}
		if columns == nil && len(f.Inputs) == 1 {
			columns = free(in.Datatype != "BYTES", in.Datatype == "BYTES")
		}
		if len(columns) == 0 {
			return f, fmt.Errorf("model %q: its server does not say which columns its input %q takes: name its columns", n.Path, in.Name)
		}
		f.Inputs[i].Columns = columns
	}
	return f, schema.Require("the data", f.Columns())
}

// rows are the columns as inputs of a server that names none: of MLflow a data frame, else one tensor of numbers; with texts among them a tensor
// for each, which are the columns of a frame.
func (a *Asked) rows(columns []string, schema data.Schema) (inputs []served.Input, frame bool) {
	if a.server.Protocol() == served.MLflow {
		return []served.Input{{Name: a.frame(), Columns: columns}}, false
	}
	numeric := func(name string) bool { c, _ := schema.Lookup(name); return c.Numeric }
	if !slices.ContainsFunc(columns, func(c string) bool { return !numeric(c) }) {
		return []served.Input{{Name: a.frame(), Datatype: "FP64", Columns: columns}}, false
	}
	for _, c := range columns {
		inputs = append(inputs, served.Input{Name: c, Datatype: map[bool]string{true: "FP64", false: "BYTES"}[numeric(c)], Width: 1, Columns: []string{c}})
	}
	return inputs, true
}

// Settle asks a model behind an address about the first of the rows, and so finds out what it answers; it does nothing of
// others, and of one that was asked before. named are the columns of inputs, taken those that no input takes unless it is
// named.
func (n *Network) Settle(ctx context.Context, rows files.Source, named map[string][]string, taken []string) error {
	if n.Asked == nil || n.Asked.form != nil {
		return nil
	}
	f, err := n.form(rows.Schema(), named, taken)
	if err != nil {
		return err
	}
	for b, err := range rows.Batches(ctx, f.Columns()) {
		if err != nil {
			return err
		}
		settled, err := n.Asked.server.Settle(ctx, f, b)
		if err != nil {
			return err
		}
		return n.settled(settled)
	}
	return fmt.Errorf("model %q: the data have no rows to ask it about", n.Path)
}

// settled notes what the model answers.
func (n *Network) settled(f *served.Form) error {
	k, p := f.Width(), n.Predictions
	switch given := n.Asked.classes; {
	case len(given) > 0 && len(given) != k:
		return optionError("classes", fmt.Errorf("there are %d names %.300q, and model %q answers %d numbers for each row: name each class once", len(given), given, n.Path, k))
	case len(given) > 0:
		p.Columns = given
	case len(f.Outputs) == 1 && k > 1:
		p.Columns = numbered(k)
	default:
		p.Columns = nil
		for _, o := range f.Outputs {
			for j := range o.Width {
				p.Columns = append(p.Columns, o.Name+map[bool]string{true: strconv.Itoa(j + 1)}[o.Width > 1])
			}
		}
	}
	graphs, err := Predicted([][]string{p.Columns}, p.Link, p.Clip)
	if err != nil {
		return fmt.Errorf("model %q: %w", n.Path, err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	n.Asked.graph, n.Asked.form, n.SHA256 = graphs[0].Graph, f, hex.EncodeToString(sum[:])
	return nil
}

// Form is what is asked of the model, as JSON; nil: of no address, or nobody has asked yet.
func (n *Network) Form() json.RawMessage {
	if n.Asked == nil || n.Asked.form == nil {
		return nil
	}
	text, _ := json.Marshal(n.Asked.form) // it has names and numbers alone
	return text
}

// AskAs is Ask of a model of which it is known what it answers: the server is asked nothing.
func AskAs(address string, form json.RawMessage, a Answers) (*Network, error) {
	n, err := ask(address, &Predictions{Link: cmp.Or(a.Link, "identity"), Clip: a.Clip})
	if err != nil {
		return nil, err
	}
	var f served.Form
	if err := json.Unmarshal(form, &f); err != nil {
		return nil, fmt.Errorf("model %q: what is asked of it: %w", address, err)
	}
	if f.Protocol != n.Asked.server.Protocol() || f.Width() == 0 || len(f.Columns()) == 0 {
		return nil, fmt.Errorf("model %q: it is asked by the protocol %q, and what was decomposed was asked by %q: give an address of the same kind", address, n.Asked.server.Protocol(), f.Protocol)
	}
	n.Asked.classes = a.Classes
	if !f.Frame { // else the server names no inputs
		n.Asked.inputs = f.Inputs
	}
	if n.Graph, err = n.Asked.declared(); err != nil {
		return nil, err
	}
	return n, n.settled(&f)
}

// Texts are the columns that a model behind an address takes as text, as far as it was asked; nil of others.
func (n *Network) Texts() []string {
	if n.Asked == nil || n.Asked.form == nil {
		return nil
	}
	return n.Asked.form.Texts()
}

// Keep keeps the model's answers in a file, by row, so that a row whose answer is there is not asked again. It does nothing of a
// model that is no address.
func (n *Network) Keep(path string) (err error) {
	if n.Asked != nil {
		n.Asked.kept, err = served.Keep(path, len(n.Predictions.Columns))
	}
	return err
}

// Close closes what Keep opened.
func (n *Network) Close() error {
	if n.Asked == nil || n.Asked.kept == nil {
		return nil
	}
	return n.Asked.kept.Close()
}

// run is the graph that computes the predictors.
func (n *Network) run() *onnx.Graph {
	if n.Asked != nil {
		return n.Asked.graph
	}
	return n.Graph
}

// derived are the predictions as columns that are asked for; nil: the data have them.
func (n *Network) derived() *onnx.Derived {
	if n.Asked == nil {
		return nil
	}
	return &onnx.Derived{Columns: n.Asked.form.Columns(), Fill: n.answered}
}

// answered are the rows of b with the model's answers as columns.
func (n *Network) answered(ctx context.Context, b *data.Batch) (*data.Batch, error) {
	a, k := n.Asked, len(n.Predictions.Columns)
	answers := make([]float64, k*b.Rows())
	var err error
	if a.kept != nil {
		err = a.kept.Predict(ctx, a.server, answers, a.form, b)
	} else {
		err = a.server.Predict(ctx, answers, a.form, b)
	}
	if err != nil {
		return nil, err
	}
	out := data.NewBatch(b.Rows(), 0)
	rows := make([]int64, b.Rows())
	for i := range rows {
		rows[i] = b.Row(i)
	}
	if err := out.SetRows(rows); err != nil {
		return nil, err
	}
	for j, name := range n.Predictions.Columns {
		column := make([]float64, b.Rows())
		for i := range column {
			column[i] = answers[i*k+j]
		}
		if err := out.SetNumeric(name, column); err != nil {
			return nil, err
		}
	}
	found := unlinked{what: "answer"}
	if found.look(out, n.Predictions); found.first != "" {
		return nil, fmt.Errorf("model %q: %w", n.Path, found.error(n.Predictions, "link"))
	}
	return out, nil
}

// addressReference is what a result says of a model behind an address.
type addressReference struct {
	Kind        string              `json:"kind"`
	Address     string              `json:"address"`
	SHA256      string              `json:"sha256"` // of the form
	Form        *served.Form        `json:"form"`
	Predictions []string            `json:"predictions"`
	Inputs      map[string][]string `json:"inputs"`
	BoundBy     map[string]string   `json:"bound_by,omitempty"`
	Link        string              `json:"link"`
	Clip        float64             `json:"clip,omitempty"`
	Factors     []string            `json:"factors,omitempty"`
	Units       map[string]string   `json:"units,omitempty"`
	Classes     *ClassesReference   `json:"classes,omitempty"`
	Columns     []string            `json:"columns"`
	Checked     *Checked            `json:"checked,omitempty"`
}

// addressJSON is the reference to a model behind an address.
func (ref *Reference) addressJSON() (json.RawMessage, error) {
	return json.Marshal(addressReference{
		Kind: Address, Address: ref.Address, SHA256: ref.SHA256, Form: ref.Form, Predictions: ref.Predictions, Inputs: ref.Inputs, BoundBy: ref.BoundBy,
		Link: ref.Link, Clip: ref.Clip, Factors: ref.Factors, Units: ref.Units, Classes: ref.Classes, Columns: ref.Form.Columns(), Checked: ref.Checked,
	})
}

// asked is the reference of a model behind an address. named are the columns that somebody named, by input.
func (q *Request) asked(named map[string][]string) Reference {
	n := q.Network
	ref := Reference{
		Kind: Address, Address: n.Path, SHA256: n.SHA256, Form: n.Asked.form, Predictions: n.Predictions.Columns,
		Link: n.Predictions.Link, Clip: n.Predictions.Clip, Factors: q.Factors, NoStructure: true,
		Inputs: map[string][]string{}, BoundBy: map[string]string{},
	}
	for _, in := range n.Asked.form.Inputs {
		ref.Inputs[in.Name] = in.Columns
		switch {
		case named[in.Name] != nil:
			ref.BoundBy[in.Name] = ByOption
		case in.Datatype != "" && !slices.Equal(in.Columns, []string{in.Name}): // a data frame has names
			ref.BoundBy[in.Name] = ByPosition
		}
	}
	return ref
}

// unnamed says of a model that takes a data frame, whose server names no columns, which ones it was given if nobody named
// them; "" of others (of columns by position see guessed).
func (q *Request) unnamed() string {
	if q.Network == nil || q.Network.Asked == nil {
		return ""
	}
	a := q.Network.Asked
	if a.form.Protocol != served.MLflow && !a.form.Frame || q.Inputs[a.frame()] != nil {
		return ""
	}
	return fmt.Sprintf("the server of model %q does not say which columns it reads: it was given all of the data that have no role, %.300q, and terms are of these; name those that it reads as its input %q", q.Network.Path, a.form.Columns(), a.frame())
}

// openedAddress is the model behind the address again, or behind another one to which it has moved.
func (ref *Reference) openedAddress(moved string, by Computing) (*Opened, error) {
	if moved != "" && !served.IsAddress(moved) {
		return nil, fmt.Errorf("the decomposition is of a model behind an address, %q, and not of a file: name the address that it has moved to", ref.Address)
	}
	if ref.Form == nil {
		return nil, errors.New("the decomposition does not say what is asked of its model")
	}
	form, err := json.Marshal(ref.Form)
	if err != nil {
		return nil, err
	}
	a := Answers{Link: ref.Link, Clip: ref.Clip}
	if ref.Link == "softmax" {
		a.Classes = ref.Predictions
	}
	n, err := AskAs(cmp.Or(moved, ref.Address), form, a)
	if err != nil {
		return nil, err
	}
	own := *ref
	own.NoStructure, own.Clip = true, 0
	return own.openedBy(n, by)
}

// bound is how the network of predictions takes them.
func (p *Predictions) bound() onnx.Binding {
	return onnx.Binding{{Input: onnx.PredictionsInput, Columns: p.Columns}}
}
