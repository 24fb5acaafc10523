package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

var folder = filepath.Join("..", "..", "testdata", "docs", "pictures")

// The table's effects after the decomposition are those that the patients were simulated with, within 0.01 days a year
// and three standard errors. The networks' own coefficient of age is less than a quarter of the truth: the deep part
// took the rest, as train.py says when it has trained.
func TestEffects(t *testing.T) {
	for _, n := range networks {
		d, _, err := n.decompose(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		effects, err := d.Result.Coefficients(0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, e := range effects {
			effect, known := truth[e.Term+e.Level]
			if !known {
				continue
			}
			found++
			if far := math.Abs(e.Estimate - effect); !(far < 3*e.SE) || e.Term == "age" && far > 0.01 {
				t.Errorf("%s, %s %s: %g +- %g, truth %g", n.file, e.Term, e.Level, e.Estimate, e.SE, effect)
			}
			if e.Term == "age" && !(math.Abs(e.Before) < effect/4) {
				t.Errorf("%s: the network's own coefficient of age is %g: nothing to recover", n.file, e.Before)
			}
		}
		if found != len(truth) {
			t.Errorf("%s: %d of %d effects in %+v", n.file, found, len(truth), effects)
		}
	}
}

// The parts of every row sum to the network's output. What is unstructured follows the state that only scan and note
// tell, and no column of the table.
func TestParts(t *testing.T) {
	for _, n := range networks {
		d, rows, err := n.decompose(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		var rest []float64
		for p, err := range d.Parts(t.Context(), rows) {
			if err != nil {
				t.Fatal(err)
			}
			parts := p.Predictors[0]
			for i, r := range parts.Unstructured {
				sum := parts.Intercept + r
				for _, v := range parts.Terms.RawRowView(i) {
					sum += v
				}
				if !(math.Abs(sum-parts.Eta[i]) < 1e-5) {
					t.Fatalf("%s: parts of row %d sum to %g, the network says %g", n.file, len(rest)+i, sum, parts.Eta[i])
				}
			}
			rest = append(rest, parts.Unstructured...)
		}
		columns := map[string][]float64{}
		for b, err := range rows.Batches(t.Context(), []string{"age", "weight", "region", "hidden"}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []string{"age", "weight", "hidden"} {
				v, err := b.Numeric(c)
				if err != nil {
					t.Fatal(err)
				}
				columns[c] = append(columns[c], v...)
			}
			region, err := b.Texts("region")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []string{"east", "north", "south"} {
				for i := range b.Rows() {
					columns[r] = append(columns[r], map[bool]float64{true: 1}[region(i) == r])
				}
			}
		}
		for c, v := range columns {
			r := stat.Correlation(v, rest, nil)
			if c == "hidden" && !(r > 0.9) || c != "hidden" && !(math.Abs(r) < 1e-6) {
				t.Errorf("%s: what is unstructured correlates with %s by %g", n.file, c, r)
			}
		}
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, folder); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"scan.onnx: 33 % of the variance is beyond", "note.onnx: 34 %", "network's own"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
