package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
)

func numericSchema(names ...string) data.Schema {
	var s data.Schema
	for _, n := range names {
		s = append(s, data.Column{Name: n, Numeric: true})
	}
	return s
}

func TestBind(t *testing.T) {
	schema := append(numericSchema("y", "x0", "x1", "x2", "x3", "w"), data.Column{Name: "city", Categorical: true})
	one := graphOf(handIn("x", Batch, 4))
	two := graphOf(handIn("x", Batch, 2), handIn("z", Batch, 1, 2))
	named := graphOf(handIn("x1", Batch, 1), handIn("x0", Batch), handIn("rest", Batch, 2))
	for _, c := range []struct {
		reason  string
		g       *Graph
		flags   []string
		exclude []string
		want    [][]string
		err     string
	}{
		{reason: "a range", g: one, flags: []string{"x=x0..x3"}, want: [][]string{{"x0", "x1", "x2", "x3"}}},
		{reason: "order and repetition are the user's", g: one, flags: []string{"x=x3,x0,x0,x1"}, want: [][]string{{"x3", "x0", "x0", "x1"}}},
		{reason: "the single input takes what remains", g: one, exclude: []string{"y", "w"}, want: [][]string{{"x0", "x1", "x2", "x3"}}},
		{reason: "inputs named like columns, one more takes the rest", g: named, exclude: []string{"y", "w"}, want: [][]string{{"x1"}, {"x0"}, {"x2", "x3"}}},
		{reason: "two inputs", g: two, flags: []string{"z=x2,x3", "x=x0,x1"}, want: [][]string{{"x0", "x1"}, {"x2", "x3"}}},
		{reason: "one flag, the rest by count", g: two, flags: []string{"z=x2,x3"}, exclude: []string{"y", "w"}, want: [][]string{{"x0", "x1"}, {"x2", "x3"}}},
		{reason: "too many candidates", g: one, exclude: []string{"y"},
			err: "onnx: input \"x\" needs 4 columns and 5 numeric columns are free (\"x0\", \"x1\", \"x2\", \"x3\", \"w\"); name them with --input x=column,...\n" +
				"  input \"x\": float [N 4]\n  numeric columns: \"y\", \"x0\", \"x1\", \"x2\", \"x3\", \"w\"\n  text columns: \"city\""},
		{reason: "several open inputs", g: two, err: `onnx: no columns are bound to the inputs "x", "z"; use --input NAME=column,... for each`},
		{reason: "unknown input", g: one, flags: []string{"X=x0..x3"}, err: `onnx: --input "X=x0..x3": the network has no input "X"; it has "x"`},
		{reason: "unknown column", g: one, flags: []string{"x=x0,x1,x2,x9"}, err: `onnx: --input "x=x0,x1,x2,x9": the data have no column "x9"; they have "y", "x0", "x1", "x2", "x3", "w", "city"`},
		{reason: "unknown column in a range", g: one, flags: []string{"x=x1..x4"}, err: `the data have no column "x4"`},
		{reason: "range downwards", g: one, flags: []string{"x=x3..x0"}, err: `onnx: --input "x=x3..x0": range "x3..x0": the numbers must count up, at most 100000 columns`},
		{reason: "range of two names", g: one, flags: []string{"x=x0..y3"}, err: `range "x0..y3": want the same name with two numbers, like x0..x9`},
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
			b, err := Bind(c.g, schema, c.flags, c.exclude...)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
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

func TestColumnRangeKeepsDigits(t *testing.T) {
	got, err := columnRange("x08", "x11")
	if want := []string{"x08", "x09", "x10", "x11"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestUnbound(t *testing.T) {
	b := Unbound(graphOf(handIn("x", Batch, 2), handIn("age", Batch, 1)))
	if want := []string{"x[0]", "x[1]", "age"}; !slices.Equal(b.Columns(), want) {
		t.Errorf("got %q, want %q", b.Columns(), want)
	}
}
