package onnx

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// What a program reacts to can be told from its type.
func TestTypedErrors(t *testing.T) {
	file := graphtest.Bytes(t, graphtest.Model(13, func(b *onnxpb.Builder) { b.AddNode("Mystery", graphtest.In("x"), "y") }))
	_, err := Load(bytes.NewReader(file), nil)
	var u *UnsupportedOperatorError
	if !errors.As(err, &u) || u.Op != "Mystery" || u.Domain != "" || u.Version != 13 || u.Node != `node "y" (Mystery)` {
		t.Errorf("%#v of %v", u, err)
	}
	_, err = Load(bytes.NewReader(file), &LoadOptions{MaxMemory: 1})
	if !errors.Is(err, ErrMemory) {
		t.Errorf("no ErrMemory: %v", err)
	}

	g := unchecked(graphtest.GraphOf(graphtest.Input("x", graph.Batch, 2), graphtest.Input("z", graph.Batch, 1, 2)))
	schema := numericSchema("a", "b", "c", "d")
	_, err = Bind(g, schema, map[string][]string{"x": {"a", "q"}})
	var m *data.MissingColumnError
	if !errors.As(err, &m) || m.Column != "q" || len(m.Columns) != 4 {
		t.Errorf("%#v of %v", m, err)
	}
	_, err = Bind(g, schema, nil, "d")
	var a *AmbiguousBindingError
	if !errors.As(err, &a) {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Tensor{{"x", "float", []int{Batch, 2}}, {"z", "float", []int{Batch, 1, 2}}}, a.Open); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b", "c"}, a.Free); d != "" {
		t.Error(d)
	}

	g = unchecked(graphtest.SmallNAM())
	_, err = Discover(g, Unbound(g), &Options{Learned: []string{"x[1]"}})
	var o *OptionError
	if !errors.As(err, &o) || o.Option != "Learned" || o.Value != "x[1]" {
		t.Errorf("%#v of %v", o, err)
	}
}
