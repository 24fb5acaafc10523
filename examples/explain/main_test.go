package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/nam"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, filepath.Join("..", "..", "internal", "command", "demo", "ssn.onnx")); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(out.String()))
	var a Answer
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	sum := a.Intercept + a.Unstructured
	for _, p := range a.Parts {
		sum += p.Contribution
		if !(p.SE > 0) {
			t.Errorf("%q has standard error %g", p.Terms, p.SE)
		}
	}
	if math.Abs(sum-a.Eta) > 1e-9 || len(a.Parts) != 10 {
		t.Errorf("%d parts that add up to %g, the network says %g", len(a.Parts), sum, a.Eta)
	}
	var s nam.Shape
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if len(s.After) != 5 || s.Features[0] != "x0" {
		t.Errorf("curve %+v", s)
	}
}
