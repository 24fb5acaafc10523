package served

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// texts is the datatype of texts, truths that of yes and no.
const (
	texts  = "BYTES"
	truths = "BOOL"
)

// appendText appends s as a JSON text.
func appendText(dst []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string has one
	return append(dst, text...)
}

// appendNumber appends v so that reading it gives v, a whole number by its digits alone, which readers of integers
// want; null for a missing value.
func appendNumber(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, "null"...)
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// limits are the least and the largest number of a datatype.
func limits(datatype string) (least, largest float64) {
	kind := strings.TrimRight(datatype, "0123456789")
	bits, _ := strconv.Atoi(datatype[len(kind):]) // 0: the datatype has none
	switch {
	case kind == truths:
		return 0, 1
	case kind == "INT":
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1
	case kind == "UINT":
		return 0, math.Ldexp(1, bits) - 1
	case datatype == "FP16":
		largest = 65504
	case datatype == "FP32":
		largest = math.MaxFloat32
	default:
		largest = math.MaxFloat64
	}
	return -largest, largest
}

// tensor is an output as it was answered: n x width numbers, row-major, NaN for null; or texts, of which there is the first.
type tensor struct {
	name   string
	width  int
	values []float64
	isText bool
	text   string
}

// Metadata is what a server says of the model: its inputs, without columns, and its outputs by name. Empty: it does not say.
type Metadata struct {
	Inputs  []Input
	Outputs []string
}

// Metadata asks for them. MLflow's servers have none. Error: *Error; an input that is not of rows.
func (s *Server) Metadata(ctx context.Context) (*Metadata, error) {
	m := new(Metadata)
	if s.protocol == MLflow {
		return m, nil
	}
	raw, err := s.repeated(ctx, http.MethodGet, s.address, nil, 1)
	if err != nil {
		return nil, err
	}
	var said struct {
		Inputs []struct {
			Name, Datatype string
			Shape          []int
		}
		Outputs []struct{ Name string }
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, s.fault("what it says of the model is no JSON of the Open Inference Protocol: %w", err)
	}
	for _, in := range said.Inputs {
		own := Input{Name: in.Name, Datatype: in.Datatype, Width: 1, Flat: len(in.Shape) < 2}
		for i, d := range in.Shape {
			switch {
			case i == 0 && d >= 0 && d != 1, d > 1<<16:
				return nil, s.fault("its input %q has the shape %v: the first axis has to be that of the rows, -1", in.Name, in.Shape)
			case i > 0 && d < 0:
				own.Width = 0
			case i > 0:
				own.Width *= d
			}
		}
		m.Inputs = append(m.Inputs, own)
	}
	for _, out := range said.Outputs {
		m.Outputs = append(m.Outputs, out.Name)
	}
	return m, nil
}

// cell appends the value of row i of a column.
type cell func(dst []byte, i int) ([]byte, error)

// cells are those of a column as an input of the datatype takes them; "": as they are.
func cells(b *data.Batch, column, datatype string) (cell, error) {
	x, err := b.Numeric(column)
	if datatype == texts || err != nil && datatype == "" {
		if err == nil && !b.Categorical(column) {
			return func(dst []byte, i int) ([]byte, error) { return appendText(dst, data.LevelText(x[i])), nil }, nil
		}
		text, err := b.Texts(column)
		return func(dst []byte, i int) ([]byte, error) {
			if text(i) == data.MissingLevel {
				return append(dst, "null"...), nil
			}
			return appendText(dst, text(i)), nil
		}, err
	}
	if err != nil {
		return nil, err
	}
	whole := datatype != "" && datatype[0] != 'F'
	least, largest := limits(datatype)
	return func(dst []byte, i int) ([]byte, error) {
		switch v := x[i]; {
		case v < least || v > largest || whole && v != math.Trunc(v):
			return nil, fmt.Errorf("column %q, data row %d: %v does not go into an input of type %s", column, b.Row(i)+1, v, cmp.Or(datatype, "number in JSON"))
		case datatype == truths:
			return append(dst, []string{"false", "true"}[int(v)]...), nil
		default:
			return appendNumber(dst, v), nil
		}
	}, nil
}

// rowsOf appends, for each row, the cells of all columns with commas; open and shut stand around each row.
func rowsOf(dst []byte, b *data.Batch, columns []string, datatype, open, shut string) ([]byte, error) {
	of := make([]cell, len(columns))
	for j, c := range columns {
		var err error
		if of[j], err = cells(b, c, datatype); err != nil {
			return nil, err
		}
	}
	for i := range b.Rows() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, open...)
		for j := range of {
			if j > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = of[j](dst, i); err != nil {
				return nil, err
			}
		}
		dst = append(dst, shut...)
	}
	return dst, nil
}

// appendTensors appends a request of the Open Inference Protocol.
func appendTensors(dst []byte, f *Form, b *data.Batch) ([]byte, error) {
	dst = append(dst, '{')
	if f.Frame {
		dst = append(dst, `"parameters":{"content_type":"pd"},`...)
	}
	dst = append(dst, `"inputs":[`...)
	for i, in := range f.Inputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(dst, `{"name":`...), in.Name)
		dst = append(dst, fmt.Sprintf(`,"datatype":%q,"shape":[%d`, in.Datatype, b.Rows())...)
		if !in.Flat {
			dst = append(dst, fmt.Sprintf(",%d", len(in.Columns))...)
		}
		dst = append(dst, ']')
		if f.Frame && in.Datatype == texts {
			dst = append(dst, `,"parameters":{"content_type":"str"}`...)
		}
		var err error
		if dst, err = rowsOf(append(dst, `,"data":[`...), b, in.Columns, in.Datatype, "", ""); err != nil {
			return nil, err
		}
		dst = append(dst, "]}"...)
	}
	dst = append(dst, ']')
	for i, o := range f.Outputs {
		dst = append(dst, []string{`,"outputs":[`, ","}[min(i, 1)]...)
		dst = append(appendText(append(dst, `{"name":`...), o.Name), '}')
	}
	if len(f.Outputs) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}'), nil
}

// appendFrame appends a request of MLflow.
func appendFrame(dst []byte, f *Form, b *data.Batch) ([]byte, error) {
	dst = append(dst, `{"dataframe_split":{"columns":[`...)
	columns := f.Columns()
	for j, c := range columns {
		if j > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, c)
	}
	dst, err := rowsOf(append(dst, `],"data":[`...), b, columns, "", "[", "]")
	return append(dst, "]}}"...), err
}

// parseTensors reads an answer of the Open Inference Protocol for n rows.
func parseTensors(raw []byte, n int) ([]tensor, error) {
	var said struct {
		Outputs []struct {
			Name  string
			Shape []int
			Data  json.RawMessage
		}
	}
	if err := unmarshal(raw, &said); err != nil {
		return nil, err
	}
	if len(said.Outputs) == 0 {
		return nil, fmt.Errorf("it has no outputs")
	}
	var out []tensor
	for _, o := range said.Outputs {
		t := tensor{name: o.Name, width: 1}
		if len(o.Shape) == 0 || o.Shape[0] != n {
			return nil, fmt.Errorf("the output %q has the shape %v, and there were %d rows", o.Name, o.Shape, n)
		}
		for _, d := range o.Shape[1:] {
			t.width *= d
		}
		if err := t.flatten(o.Data); err != nil {
			return nil, err
		}
		if !t.isText && len(t.values) != n*t.width {
			return nil, fmt.Errorf("the output %q has the shape %v and %d numbers", o.Name, o.Shape, len(t.values))
		}
		out = append(out, t)
	}
	return out, nil
}

// parseFrame reads MLflow's answer for n rows: a number, or numbers, of each row, or columns by name.
func parseFrame(raw []byte, n int) ([]tensor, error) {
	var said struct{ Predictions json.RawMessage }
	if err := unmarshal(raw, &said); err != nil {
		return nil, err
	}
	if said.Predictions == nil {
		return nil, fmt.Errorf("it has no predictions")
	}
	var columns map[string]json.RawMessage
	if json.Unmarshal(said.Predictions, &columns) == nil && columns != nil {
		var out []tensor
		for name, values := range columns {
			t, err := byRow(name, values, n)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		return sorted(out), nil
	}
	var records []map[string]json.RawMessage
	if json.Unmarshal(said.Predictions, &records) == nil && len(records) > 0 && records[0] != nil {
		var out []tensor
		for name := range records[0] {
			t := tensor{name: name, width: 1}
			for _, r := range records {
				if err := t.flatten(r[name]); err != nil {
					return nil, err
				}
			}
			if len(records) != n || !t.isText && len(t.values) != n {
				return nil, fmt.Errorf("there are %d predictions, and there were %d rows", len(records), n)
			}
			out = append(out, t)
		}
		return sorted(out), nil
	}
	t, err := byRow("predictions", said.Predictions, n)
	return []tensor{t}, err
}

func sorted(out []tensor) []tensor {
	slices.SortFunc(out, func(a, b tensor) int { return cmp.Compare(a.name, b.name) })
	return out
}

// byRow is an array with a number, or as many numbers, of each of n rows.
func byRow(name string, raw json.RawMessage, n int) (t tensor, err error) {
	t.name = name
	var rows []json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		return t, fmt.Errorf("the predictions %q are no list: %w", name, err)
	}
	if len(rows) != n {
		return t, fmt.Errorf("there are %d predictions, and there were %d rows", len(rows), n)
	}
	for i, row := range rows {
		before := len(t.values)
		if err := t.flatten(row); err != nil || t.isText {
			return t, err
		}
		if i == 0 {
			t.width = len(t.values)
		}
		if len(t.values)-before != t.width {
			return t, fmt.Errorf("a row has %d numbers and another %d", t.width, len(t.values)-before)
		}
	}
	return t, nil
}

// flatten appends the numbers of nested lists; null is NaN.
func (t *tensor) flatten(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if err != nil { // the end: it was valid before
			return nil
		}
		switch v := token.(type) {
		case float64:
			t.values = append(t.values, v)
		case bool:
			t.values = append(t.values, map[bool]float64{true: 1}[v])
		case nil:
			t.values = append(t.values, math.NaN())
		case string:
			t.isText, t.text = true, v
			return nil
		case json.Delim:
			if v == '{' {
				return fmt.Errorf("the output %q is neither numbers nor texts", t.name)
			}
		}
	}
}

// unmarshal reads JSON in which numbers may be NaN or infinite, as Python writes them: null here.
func unmarshal(raw []byte, to any) error {
	err := json.Unmarshal(raw, to)
	if err != nil && (bytes.Contains(raw, []byte("NaN")) || bytes.Contains(raw, []byte("Infinity"))) {
		err = json.Unmarshal(withoutNaN(raw), to)
	}
	return err
}

// withoutNaN has null in place of NaN, Infinity and -Infinity outside of texts.
func withoutNaN(raw []byte) []byte {
	var out []byte
	quoted := false
	for i := 0; i < len(raw); i++ {
		word := ""
		switch c := raw[i]; {
		case quoted && c == '\\' && i+1 < len(raw):
			out = append(out, c)
			i++
		case c == '"':
			quoted = !quoted
		case !quoted:
			for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(raw[i:], []byte(w)) {
					word = w
				}
			}
		}
		if word == "" {
			out = append(out, raw[i])
			continue
		}
		out = append(out, "null"...)
		i += len(word) - 1
	}
	return out
}
