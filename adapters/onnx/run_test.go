package onnx

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// flat reads nested JSON lists of numbers in row-major order.
func flat(t testing.TB, raw json.RawMessage) []float64 {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var out []float64
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case float64:
			out = append(out, v)
		case bool:
			out = append(out, float64(toInt(v)))
		default:
			t.Fatalf("not a number: %v", v)
		}
	}
	walk(v)
	return out
}

type ioFile struct {
	Inputs  map[string]json.RawMessage `json:"inputs"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// runFile evaluates a graph's outputs on the inputs of a JSON file and compares.
func runFile(t *testing.T, model, io string, precision Precision, tol float64) {
	t.Helper()
	g, err := LoadFile(model, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(io)
	if err != nil {
		t.Fatal(err)
	}
	var f ioFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(g, g.Outputs, RunOptions{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	var in, dst, want [][]float64
	rows := 0
	for _, v := range g.Inputs {
		x := flat(t, f.Inputs[v.Name])
		in = append(in, x)
		rows = len(x) / v.Width()
	}
	for _, v := range g.Outputs {
		want = append(want, flat(t, f.Outputs[v.Name]))
		dst = append(dst, make([]float64, rows*v.Width()))
	}
	if err := r.Run(dst, in, rows); err != nil {
		t.Fatal(err)
	}
	for k, v := range g.Outputs {
		if len(want[k]) != len(dst[k]) {
			t.Fatalf("output %q: %d values, want %d", v.Name, len(dst[k]), len(want[k]))
		}
		for i, w := range want[k] {
			if !(math.Abs(dst[k][i]-w) <= tol*(1+math.Abs(w))) {
				t.Fatalf("output %q, value %d: %g, want %g", v.Name, i, dst[k][i], w)
			}
		}
	}
}
