package onnx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// zooValues are the inputs and outputs of a network, in the order of its manifest, rows
// first. A tensor of text holds Text, others Numbers.
type zooValues struct {
	inputs, outputs []zooArray
	rows            int
}

type zooArray struct {
	Numbers []float64
	Text    []string
}

// UnmarshalJSON reads a list of numbers, in which NaN, Inf and -Inf are strings, or of
// texts.
func (a *zooArray) UnmarshalJSON(b []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(b, &cells); err != nil {
		return err
	}
	for _, c := range cells {
		x, err := strconv.ParseFloat(strings.Trim(string(c), `"`), 64)
		if err == nil && a.Text == nil {
			a.Numbers = append(a.Numbers, x)
			continue
		}
		var s string
		if err := json.Unmarshal(c, &s); err != nil {
			return err
		}
		a.Text = append(a.Text, s)
	}
	if a.Text != nil && a.Numbers != nil {
		return errors.New("numbers and texts in one tensor")
	}
	return nil
}

// values reads the rows of the network.
func (n *zooNetwork) values() (*zooValues, error) {
	b, err := os.ReadFile(strings.TrimSuffix(n.file, ".onnx") + ".io.json")
	if err != nil {
		return nil, err
	}
	var f struct{ Inputs, Outputs []zooArray }
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if len(f.Inputs) != len(n.Inputs) || len(f.Outputs) != len(n.Outputs) {
		return nil, fmt.Errorf("%d inputs and %d outputs in the file of values", len(f.Inputs), len(f.Outputs))
	}
	v := &zooValues{inputs: f.Inputs, outputs: f.Outputs, rows: n.Inputs[0].Shape[n.Axis]}
	for i, t := range n.Inputs {
		v.inputs[i].Numbers = toRows(f.Inputs[i].Numbers, t.Shape, n.Axis)
	}
	for i, t := range n.Outputs {
		v.outputs[i].Numbers = toRows(f.Outputs[i].Numbers, t.Shape, n.Axis)
	}
	return v, nil
}

// toRows moves the batch axis to the front.
func toRows(values []float64, shape []int, axis int) []float64 {
	if axis == 0 || len(values) == 0 {
		return values
	}
	outer, inner := 1, 1
	for _, d := range shape[:axis] {
		outer *= d
	}
	for _, d := range shape[axis+1:] {
		inner *= d
	}
	rows := shape[axis]
	out := make([]float64, len(values))
	for o := range outer {
		for r := range rows {
			copy(out[(r*outer+o)*inner:(r*outer+o+1)*inner], values[(o*rows+r)*inner:])
		}
	}
	return out
}

// answer is an output of the graph that the network's values say something about.
type answer struct {
	got  openedTensor
	told zooTensor
	want []float64
}

// answers are the numeric outputs that the graph offers. Outputs of floating point must
// be there; labels, which are for nobody's decomposition, may be left out.
func (n *zooNetwork) answers(o *openedNetwork, v *zooValues) (answers []answer, refusal error) {
	for i, told := range n.Outputs {
		at := slices.IndexFunc(o.outputs, func(t openedTensor) bool {
			return t.name == told.Name || told.Tensor != "" && t.name == told.Tensor
		})
		switch {
		case told.Type == "string":
		case at >= 0:
			answers = append(answers, answer{o.outputs[at], told, v.outputs[i].Numbers})
		case !strings.HasPrefix(told.Type, "int"):
			return nil, fmt.Errorf("onnx: output %q is not offered", told.Name)
		}
	}
	if len(answers) == 0 {
		return nil, errors.New("onnx: no output of numbers")
	}
	return answers, nil
}

// tolerance is what |got - want| / (1 + |want|) may be: our engine computes in float64
// what ONNX Runtime computes in the type of the output. Integers and truth values are
// equal. Networks of half precision have a tolerance of their own.
func (n *zooNetwork) tolerance(told zooTensor) float64 {
	switch {
	case strings.HasPrefix(told.Type, "int") || told.Type == "bool":
		return 0
	case n.Tolerance > 0:
		return n.Tolerance
	case told.Type == "double":
		return 1e-9
	}
	return 1e-5
}

// compare says which number is another one than ONNX Runtime's.
func (n *zooNetwork) compare(a answer, how string, row, element int, got float64) error {
	want := a.want[row*a.got.width()+element]
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= n.tolerance(a.told)*(1+math.Abs(want)) {
		return nil
	}
	return fmt.Errorf("%s, output %q, row %d, element %d: %g, ONNX Runtime has %g", how, a.told.Name, row, element, got, want)
}

// runRows runs the engine on rows of numbers. A network that reads text is left to
// runColumns.
func (n *zooNetwork) runRows(o *openedNetwork, v *zooValues) (refusal, err error) {
	answers, refusal := n.answers(o, v)
	if refusal != nil {
		return refusal, nil
	}
	var inputs [][]float64
	for _, in := range o.inputs {
		at := slices.IndexFunc(n.Inputs, func(t zooTensor) bool { return t.Name == in.name })
		if at < 0 {
			return nil, fmt.Errorf("the graph has an input %q, which ONNX Runtime does not know", in.name)
		}
		if v.inputs[at].Text != nil {
			return nil, nil
		}
		inputs = append(inputs, v.inputs[at].Numbers)
	}
	var wanted []openedTensor
	for _, a := range answers {
		if len(a.want) != v.rows*a.got.width() {
			return nil, fmt.Errorf("output %q has %d numbers a row, ONNX Runtime has %d of %d rows", a.told.Name, a.got.width(), len(a.want), v.rows)
		}
		wanted = append(wanted, a.got)
	}
	got, refusal := o.run(wanted, inputs, v.rows)
	if refusal != nil {
		return refusal, nil
	}
	for i, a := range answers {
		for j, x := range got[i] {
			if err := n.compare(a, "rows", j/a.got.width(), j%a.got.width(), x); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// runColumns binds each element of the inputs to a data column and runs the network as
// a decompose.Model whose predictors are the outputs of floating point as they are.
func (n *zooNetwork) runColumns(o *openedNetwork, v *zooValues) (refusal, err error) {
	answers, refusal := n.answers(o, v)
	if refusal != nil {
		return refusal, nil
	}
	var outputs []string
	floats := answers[:0]
	for _, a := range answers {
		if a.got.floating {
			floats, outputs = append(floats, a), append(outputs, a.got.name)
		}
	}
	if len(floats) == 0 {
		return nil, nil
	}
	m, refusal := onnx.NewModel(o.graph, onnx.Unbound(o.graph), &onnx.Options{Predictor: outputs})
	if refusal != nil {
		return refusal, nil
	}
	batch, err := n.batch(m, v)
	if err != nil {
		return nil, err
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(v.rows, k, nil), Eta: mat.NewDense(v.rows, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(v.rows, width, nil)
	}
	if refusal := m.Forward(context.Background(), out, batch); refusal != nil {
		return fmt.Errorf("onnx: by columns: %w", refusal), nil
	}
	column := 0
	for _, a := range floats {
		for e := range a.got.width() {
			for row := range v.rows {
				if err := n.compare(a, "columns", row, e, out.Eta.At(row, column)); err != nil {
					return nil, err
				}
			}
			column++
		}
	}
	if column != k {
		return nil, fmt.Errorf("%d predictors of outputs with %d elements a row", k, column)
	}
	return nil, nil
}

// batch holds the values as data columns, named as the binding has them.
func (n *zooNetwork) batch(m *onnx.Model, v *zooValues) (*data.Batch, error) {
	b := data.NewBatch(v.rows, 0)
	for _, bound := range m.Binding() {
		at := slices.IndexFunc(n.Inputs, func(t zooTensor) bool { return t.Name == bound.Input })
		if width := len(v.inputs[at].Numbers) / max(v.rows, 1); len(bound.Columns) == 1 && width > 1 {
			if err := b.SetTensor(bound.Columns[0], mat.NewDense(v.rows, width, v.inputs[at].Numbers)); err != nil {
				return nil, err
			}
			continue
		}
		for e, name := range bound.Columns {
			width := len(bound.Columns)
			if text := v.inputs[at].Text; text != nil {
				if err := b.SetCodes(name, coded(text, e, width)); err != nil {
					return nil, err
				}
				continue
			}
			x := make([]float64, v.rows)
			for r := range x {
				x[r] = v.inputs[at].Numbers[r*width+e]
			}
			if err := b.SetNumeric(name, x); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// coded is element e of each row of texts as a column of levels.
func coded(text []string, e, width int) data.Codes {
	c := data.Codes{}
	for i := e; i < len(text); i += width {
		at := slices.Index(c.Levels, text[i])
		if at < 0 {
			at, c.Levels = len(c.Levels), append(c.Levels, text[i])
		}
		c.Index = append(c.Index, int32(at))
	}
	return c
}
