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
			if err := s.WriteJSON(&js); err != nil {
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
	x := handIn("x\x1b[2J", Batch, 1)
	h := newHandGraph(x)
	g := h.output("y\n", h.linear(x, 2))
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
			g, err := LoadFile(shared(t, "onnx_wild", name+".onnx"), nil)
			if err != nil {
				t.Fatal(err)
			}
			checkRules(t, g, 1)
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
			if err := compareWild(m, shared(t, "onnx_wild", name+".io.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// smallNetworks are seeds of a few hundred bytes: one for each way that
// elements can move.
func smallNetworks() []*Graph {
	var all []*Graph
	build := func(f func(h *handGraph, x *Value) *Value) {
		x := handIn("x", Batch, 4)
		h := newHandGraph(x)
		all = append(all, h.output("y", f(h, x)))
	}
	build(func(h *handGraph, x *Value) *Value {
		return h.add(h.linear(x, 1, 2, 3, 4), h.linear(h.relu(x, 4, 2), 1, 1))
	})
	build(func(h *handGraph, x *Value) *Value {
		a, b := h.relu(h.slice(x, 0, 1), 1, 2), h.relu(h.slice(x, 2, 4), 2, 3)
		return h.node("Softplus", nil, rows(1), h.linear(h.node("Concat", attrs{"axis": Attr{Int: -1}}, rows(5), a, b), 1, 1, 2, 2, 2))
	})
	build(func(h *handGraph, x *Value) *Value {
		xt := h.node("Unsqueeze", nil, []int{4, Batch, 1}, h.node("Transpose", nil, []int{4, Batch}, x), ints(2))
		hid := h.node("Relu", nil, []int{4, Batch, 3}, h.node("MatMul", nil, []int{4, Batch, 3}, xt, ramp(4, 1, 3)))
		return h.node("ReduceSum", attrs{"keepdims": Attr{Int: 0}}, rows(3), hid, ints(0))
	})
	build(func(h *handGraph, x *Value) *Value {
		u := h.node("Unsqueeze", nil, rows(4, 1), x, ints(2))
		c := h.node("Conv", attrs{"group": Attr{Int: 4}}, rows(8, 1), u, ramp(8, 1, 1))
		return h.linear(h.node("Tanh", nil, rows(8), h.node("Flatten", nil, rows(8), c)), 1, 2, 3, 4, 5, 6, 7, 8)
	})
	build(func(h *handGraph, x *Value) *Value {
		e := h.node("Einsum", attrs{"equation": Attr{String: "ng,go->ngo"}}, rows(4, 2), x, ramp(4, 2))
		parts := h.nodes("Split", attrs{"axis": Attr{Int: 1}}, [][]int{{Batch, 1, 2}, {Batch, 3, 2}}, e, ints(1, 3))
		m := h.node("ReduceMean", attrs{"axes": Attr{Ints: []int64{1}}, "keepdims": Attr{Int: 0}}, rows(2), parts[1])
		g := h.node("Gather", attrs{"axis": Attr{Int: 1}}, rows(1, 2), parts[0], ints(-1))
		return h.node("Softmax", nil, rows(2), h.add(m, h.node("Reshape", nil, rows(2), g, ints(-1, 2))))
	})
	return all
}

// FuzzModel: whatever loads can be discovered and run, or is refused.
func FuzzModel(f *testing.F) {
	for _, g := range smallNetworks() {
		f.Add(encoded(f, g, 13))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		g, err := Load(bytes.NewReader(raw), &LoadOptions{MaxMemory: 1 << 22, MaxElements: 10_000, MaxWork: 1 << 24})
		if err != nil {
			return
		}
		m, err := NewModel(g, Unbound(g), &Options{Run: RunOptions{MaxMemory: 1 << 26}})
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
