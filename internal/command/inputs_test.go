package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// networkOn is a network with inputs of those widths.
func networkOn(t *testing.T, names []string, widths ...int) *onnx.Graph {
	t.Helper()
	b := onnxpb.NewBuilder(13)
	for i, name := range names {
		b.AddInput(name, onnxpb.TensorProto_FLOAT, onnxpb.Rows, widths[i])
	}
	b.AddNode("Relu", names[:1], "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, widths[0])
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestInputFlags: the values of --input, with their ranges, and what is wrong with them.
func TestInputFlags(t *testing.T) {
	var schema data.Schema
	for _, name := range []string{"y", "x0", "x1", "x2", "x3", "w"} {
		schema = append(schema, data.Column{Name: name, Numeric: true})
	}
	schema = append(schema, data.Column{Name: "city", Categorical: true})
	one, two := networkOn(t, []string{"x"}, 4), networkOn(t, []string{"x", "z"}, 2, 2)
	for _, c := range []struct {
		reason string
		g      *onnx.Graph
		flags  []string
		want   [][]string
		err    string
	}{
		{reason: "a range", g: one, flags: []string{"x=x0..x3"}, want: [][]string{{"x0", "x1", "x2", "x3"}}},
		{reason: "order and repetition are the user's", g: one, flags: []string{"x=x3,x0,x0,x1"}, want: [][]string{{"x3", "x0", "x0", "x1"}}},
		{reason: "two inputs", g: two, flags: []string{"z=x2,x3", "x=x0,x1"}, want: [][]string{{"x0", "x1"}, {"x2", "x3"}}},
		{reason: "too many candidates", g: one,
			err: "onnx: input \"x\" needs 4 columns and 6 numeric columns are free (\"y\", \"x0\", \"x1\", \"x2\", \"x3\", \"w\"); name them with --input x=column,...\n" +
				"  input \"x\": float [N 4]\n  numeric columns: \"y\", \"x0\", \"x1\", \"x2\", \"x3\", \"w\"\n  text columns: \"city\""},
		{reason: "several open inputs", g: two, err: `onnx: no columns are bound to the inputs "x", "z"; use --input NAME=column,... for each`},
		{reason: "unknown input", g: one, flags: []string{"X=x0..x3"}, err: `onnx: --input "X=x0..x3": the network has no input "X"; it has "x"`},
		{reason: "unknown column", g: one, flags: []string{"x=x0,x1,x2,x9"}, err: `onnx: --input "x=x0,x1,x2,x9": the data have no column "x9"; they have "y", "x0", "x1", "x2", "x3", "w", "city"`},
		{reason: "unknown column in a range", g: one, flags: []string{"x=x1..x4"}, err: `range "x1..x4": there is no column "x4"; did you mean "x0"?`},
		{reason: "range downwards", g: one, flags: []string{"x=x3..x0"}, err: `onnx: --input "x=x3..x0": range "x3..x0": the numbers must count up, at most 100000 columns`},
		{reason: "range of two names", g: one, flags: []string{"x=x0..y3"}, err: `onnx: --input "x=x0..y3": range "x0..y3": there is no column "y3"; did you mean "y"?`},
		{reason: "range of two unlike names", g: one, flags: []string{"x=x0..elsewhere"}, err: `there is no column "elsewhere": its ends are columns of the data, or one name with two numbers, as x0..x9`},
		{reason: "endless range", g: one, flags: []string{"x=x0..x99999999999"}, err: `the numbers must count up`},
		{reason: "wrong width", g: one, flags: []string{"x=x0,x1"}, err: `onnx: input "x" [N 4] holds 4 numbers a row, but 2 columns are bound to it ("x0", "x1")`},
		{reason: "text", g: one, flags: []string{"x=x0,x1,x2,city"}, err: `onnx: column "city" holds text and cannot feed input "x", which takes numbers`},
		{reason: "files", g: one, flags: []string{"x=@img.npy"}, err: `onnx: --input "x=@img.npy": a file (@img.npy) is no list of columns: join it to the data as columns x[0], x[1], ..., which bind by their names`},
		{reason: "twice", g: one, flags: []string{"x=x0..x3", "x=x0..x3"}, err: `onnx: --input "x=x0..x3": input "x" is bound twice`},
		{reason: "no equals sign", g: one, flags: []string{"x0..x3"}, err: `onnx: --input "x0..x3": want NAME=column,column`},
		{reason: "empty name", g: one, flags: []string{"x=x0,,x1"}, err: `onnx: --input "x=x0,,x1": empty column name`},
		{reason: "all faults at once", g: two, flags: []string{"q=x0", "x=nope"}, err: "the network has no input \"q\"; it has \"x\", \"z\"\nonnx: --input \"x=nope\""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			columns, err := inputColumns(c.g, schema, c.flags)
			var b onnx.Binding
			if err == nil {
				b, err = onnx.Bind(c.g, schema, columns)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(inFlags(err), c.err) {
					t.Fatalf("error:\n%v\nwant:\n%s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for _, in := range b {
				got = append(got, in.Columns)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
