package onnx

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

var update = flag.Bool("update", false, "rewrite testdata/inspect")

// What inspect prints and its JSON, as golden files: their words and names are
// relied on.
func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name, model string
		o           *Options
	}{
		{"ssn", "ssn_op13", nil},
		{"nam_deep", "nam_deep_op13", nil},
		{"nam_only", "nam_only", nil},
		{"two_heads", "two_heads", nil},
		{"overrides", "nam_pair", &Options{MaxOrder: 1, Deep: []string{"f(x[0])"}, Learned: []string{"f(x[1],x[3])"}}},
		{"inside", "sigmoid", &Options{Predictor: []string{"y"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := LoadFile(filepath.Join("..", "..", "testdata", "golden", "models", c.model+".onnx"), nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Discover(g, Unbound(g), c.o)
			if err != nil {
				t.Fatal(err)
			}
			var text, js bytes.Buffer
			if err := s.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			enc := json.NewEncoder(&js) // as pho inspect --json does
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(s); err != nil {
				t.Fatal(err)
			}
			for ext, got := range map[string][]byte{".txt": text.Bytes(), ".json": js.Bytes()} {
				file := filepath.Join("testdata", "inspect", c.name+ext)
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if d := compareInspect(t, ext, want, got); d != "" {
					t.Errorf("%s (rewrite with -update): %s", file, d)
				}
			}
			var back Structure
			if err := json.Unmarshal(js.Bytes(), &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(s.Predictors, back.Predictors); d != "" {
				t.Error(d)
			}
		})
	}
}

// compareInspect compares text exactly, JSON up to the last digits of numbers.
func compareInspect(t *testing.T, ext string, want, got []byte) string {
	t.Helper()
	if ext == ".txt" {
		return cmp.Diff(string(want), string(got))
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(want, &a), json.Unmarshal(got, &b)); err != nil {
		t.Fatal(err)
	}
	return cmp.Diff(a, b, cmpopts.EquateApprox(0, 1e-12))
}

// Names from a file cannot write to the terminal what they like.
func TestInspectQuotesNames(t *testing.T) {
	x := graphtest.Input("x\x1b[2J", graph.Batch, 1)
	h := graphtest.NewHand(x)
	g := unchecked(h.Output("y\n", h.Linear(x, 2)))
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(b.String(), '\x1b') || !strings.Contains(b.String(), `"x\x1b[2J"  linear, coefficient 2`) {
		t.Errorf("%q", b.String())
	}
}

// The networks that this project did not write.
func TestDiscoverWild(t *testing.T) {
	for name, want := range map[string][]string{
		"gonnx_mlp":      {"preds1[] =", "deep(data_input[0],data_input[1],data_input[2]):5"},
		"acasxu_1_1":     {"linear_7_Add1[] =", "deep(input[0],input[1],input[2],input[3],input[4]):"},
		"addmo_mlp":      {"eta[] =", "deep(X[0],X[1],X[2],X[3],X[4],X[5],X[6],X[7]):"},
		"addmo_b3634cf1": {"eta[] =", "deep(Total_active_power,"},
		"addmo_cad8dfcc": {"eta[] =", "deep(Total_active_power,"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := LoadFile(graphtest.Shared(t, "onnx_wild", name+".onnx"), nil)
			if err != nil {
				t.Fatal(err)
			}
			graphtest.CheckRules(t, g.g, 1)
			m, err := NewModel(g, Unbound(g), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := brief(m.Structure())[0]
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s, want %s", got, w)
				}
			}
			if err := compareWild(m, graphtest.Shared(t, "onnx_wild", name+".io.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// smallNetworks are seeds of a few hundred bytes: one for each way that
// elements can move.
func smallNetworks() []*graph.Graph {
	var all []*graph.Graph
	build := func(f func(h *graphtest.Hand, x *graph.Value) *graph.Value) {
		x := graphtest.Input("x", graph.Batch, 4)
		h := graphtest.NewHand(x)
		all = append(all, h.Output("y", f(h, x)))
	}
	build(func(h *graphtest.Hand, x *graph.Value) *graph.Value {
		return h.Add(h.Linear(x, 1, 2, 3, 4), h.Linear(h.Relu(x, 4, 2), 1, 1))
	})
	build(func(h *graphtest.Hand, x *graph.Value) *graph.Value {
		a, b := h.Relu(h.Slice(x, 0, 1), 1, 2), h.Relu(h.Slice(x, 2, 4), 2, 3)
		return h.Node("Softplus", nil, graphtest.Rows(1), h.Linear(h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: -1}}, graphtest.Rows(5), a, b), 1, 1, 2, 2, 2))
	})
	build(func(h *graphtest.Hand, x *graph.Value) *graph.Value {
		xt := h.Node("Unsqueeze", nil, []int{4, graph.Batch, 1}, h.Node("Transpose", nil, []int{4, graph.Batch}, x), graphtest.Ints(2))
		hid := h.Node("Relu", nil, []int{4, graph.Batch, 3}, h.Node("MatMul", nil, []int{4, graph.Batch, 3}, xt, graphtest.Ramp(4, 1, 3)))
		return h.Node("ReduceSum", graphtest.Attrs{"keepdims": graph.Attr{Int: 0}}, graphtest.Rows(3), hid, graphtest.Ints(0))
	})
	build(func(h *graphtest.Hand, x *graph.Value) *graph.Value {
		u := h.Node("Unsqueeze", nil, graphtest.Rows(4, 1), x, graphtest.Ints(2))
		c := h.Node("Conv", graphtest.Attrs{"group": graph.Attr{Int: 4}}, graphtest.Rows(8, 1), u, graphtest.Ramp(8, 1, 1))
		return h.Linear(h.Node("Tanh", nil, graphtest.Rows(8), h.Node("Flatten", nil, graphtest.Rows(8), c)), 1, 2, 3, 4, 5, 6, 7, 8)
	})
	build(func(h *graphtest.Hand, x *graph.Value) *graph.Value {
		e := h.Node("Einsum", graphtest.Attrs{"equation": graph.Attr{String: "ng,go->ngo"}}, graphtest.Rows(4, 2), x, graphtest.Ramp(4, 2))
		parts := h.Nodes("Split", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, [][]int{{graph.Batch, 1, 2}, {graph.Batch, 3, 2}}, e, graphtest.Ints(1, 3))
		m := h.Node("ReduceMean", graphtest.Attrs{"axes": graph.Attr{Ints: []int64{1}}, "keepdims": graph.Attr{Int: 0}}, graphtest.Rows(2), parts[1])
		g := h.Node("Gather", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(1, 2), parts[0], graphtest.Ints(-1))
		return h.Node("Softmax", nil, graphtest.Rows(2), h.Add(m, h.Node("Reshape", nil, graphtest.Rows(2), g, graphtest.Ints(-1, 2))))
	})
	return all
}

// FuzzModel: whatever loads can be discovered and run, or is refused.
func FuzzModel(f *testing.F) {
	for _, g := range smallNetworks() {
		f.Add(graphtest.Encoded(f, g, 13))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		g, err := Load(bytes.NewReader(raw), &LoadOptions{MaxMemory: 1 << 22, MaxElements: 10_000, MaxWork: 1 << 24})
		if err != nil {
			return
		}
		m, err := NewModel(g, Unbound(g), &Options{Engine: GoEngine{MaxMemory: 1 << 26}})
		if err != nil || len(m.Columns()) > 1000 {
			return
		}
		b := someRows(t, g, 3)
		if err := forwardAll(m, b); err != nil {
			return
		}
		if err := checkParts(m, b); err != nil {
			t.Error(err)
		}
	})
}
