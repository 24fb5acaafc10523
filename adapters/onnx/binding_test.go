package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
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
	one := graphtest.GraphOf(graphtest.Input("x", graph.Batch, 4))
	two := graphtest.GraphOf(graphtest.Input("x", graph.Batch, 2), graphtest.Input("z", graph.Batch, 1, 2))
	named := graphtest.GraphOf(graphtest.Input("x1", graph.Batch, 1), graphtest.Input("x0", graph.Batch), graphtest.Input("rest", graph.Batch, 2))
	for _, c := range []struct {
		reason  string
		g       *graph.Graph
		columns map[string][]string
		exclude []string
		want    [][]string
		err     string
	}{
		{reason: "a range", g: one, columns: map[string][]string{"x": {"x0", "x1", "x2", "x3"}}, want: [][]string{{"x0", "x1", "x2", "x3"}}},
		{reason: "order and repetition are the user's", g: one, columns: map[string][]string{"x": {"x3", "x0", "x0", "x1"}}, want: [][]string{{"x3", "x0", "x0", "x1"}}},
		{reason: "the single input takes what remains", g: one, exclude: []string{"y", "w"}, want: [][]string{{"x0", "x1", "x2", "x3"}}},
		{reason: "inputs named like columns, one more takes the rest", g: named, exclude: []string{"y", "w"}, want: [][]string{{"x1"}, {"x0"}, {"x2", "x3"}}},
		{reason: "two inputs", g: two, columns: map[string][]string{"z": {"x2", "x3"}, "x": {"x0", "x1"}}, want: [][]string{{"x0", "x1"}, {"x2", "x3"}}},
		{reason: "one flag, the rest by count", g: two, columns: map[string][]string{"z": {"x2", "x3"}}, exclude: []string{"y", "w"}, want: [][]string{{"x0", "x1"}, {"x2", "x3"}}},
		{reason: "too many candidates", g: one, exclude: []string{"y"},
			err: "onnx: input \"x\" needs 4 columns and 5 numeric columns are free (\"x0\", \"x1\", \"x2\", \"x3\", \"w\"); name its columns\n" +
				"  input \"x\": float [N 4]\n  numeric columns: \"y\", \"x0\", \"x1\", \"x2\", \"x3\", \"w\"\n  text columns: \"city\""},
		{reason: "several open inputs", g: two, err: `onnx: no columns are bound to the inputs "x", "z"; name the columns of each`},
		{reason: "unknown input", g: one, columns: map[string][]string{"X": {"x0"}}, err: `onnx: the network has no input "X"; it has "x"`},
		{reason: "unknown column", g: one, columns: map[string][]string{"x": {"x0", "x1", "x2", "x9"}}, err: `onnx: input "x": data: no column "x9" in the data; the nearest name is "x0"`},
		{reason: "wrong width", g: one, columns: map[string][]string{"x": {"x0", "x1"}}, err: `onnx: input "x" [N 4] holds 4 numbers a row, but 2 columns are bound to it ("x0", "x1")`},
		{reason: "text", g: one, columns: map[string][]string{"x": {"x0", "x1", "x2", "city"}}, err: `onnx: column "city" holds text and cannot feed input "x", which takes numbers`},
		{reason: "all faults at once", g: two, columns: map[string][]string{"q": {"x0"}, "x": {"nope"}}, err: "the network has no input \"q\"; it has \"x\", \"z\"\nonnx: input \"x\": data: no column \"nope\" in the data"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			b, err := Bind(unchecked(c.g), schema, c.columns, c.exclude...)
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

func TestUnbound(t *testing.T) {
	b := Unbound(unchecked(graphtest.GraphOf(graphtest.Input("x", graph.Batch, 2), graphtest.Input("age", graph.Batch, 1))))
	if want := []string{"x[0]", "x[1]", "age"}; !slices.Equal(b.Columns(), want) {
		t.Errorf("got %q, want %q", b.Columns(), want)
	}
}

// TestBindNoGuess: an input of one number is never given the column that happens to be left
// while others found theirs by name; nor is one whose column is there and cannot be read.
func TestBindNoGuess(t *testing.T) {
	two := unchecked(graphtest.GraphOf(graphtest.Input("price", graph.Batch, 1), graphtest.Input("age", graph.Batch, 1)))
	one := unchecked(graphtest.GraphOf(graphtest.Input("price", graph.Batch, 1)))
	wide := unchecked(graphtest.GraphOf(graphtest.Input("x", graph.Batch, 2)))
	refused := func(name string) data.Column {
		return data.Column{Name: name, Refused: true, Text: "a list, which is neither numbers nor text: store its parts as columns of their own"}
	}
	list := ` is a list, which is neither numbers nor text: store its parts as columns of their own`
	for _, c := range []struct {
		why    string
		g      *Graph
		schema data.Schema
		want   string
	}{
		{"missing", two, numericSchema("age", "id"), `onnx: no column is named as input "price", while others are; name its column, which may be the one that is free ("id")`},
		{"cannot be read", one, append(numericSchema("id"), refused("price")), `onnx: input "price": column "price"` + list},
		{"an element cannot be read", wide, append(numericSchema("x[0]", "id"), refused("x[1]")), `onnx: input "x": column "x[1]"` + list},
		{"a wide one cannot be read", wide, append(numericSchema("a", "b"), refused("x")), `onnx: input "x": column "x"` + list},
		{"holds an array", one, append(numericSchema("id"), data.Column{Name: "price", Width: 3}), `onnx: column "price" holds 3 numbers a row, input "price" [N 1] takes one of each of its columns`},
		{"names of rows", one, numericSchema("__index_level_0__"), `onnx: input "price" needs 1 columns and 0 numeric columns are free`},
		{"names of rows do not count", one, numericSchema("Unnamed: 0", "a"), ""},
		{"another column cannot be read", wide, append(numericSchema("a", "b"), refused("c")), ""},
	} {
		_, err := Bind(c.g, c.schema, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}
