package onnx_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/decompose"
)

// machine is what interpret says of an explainable boosting machine of the zoo on the
// rows of its values (testdata/zoo/ebm.py).
type machine struct {
	Terms []struct {
		Columns []string
		Scores  []float64 // classes x rows
	}
	Intercept []float64
}

// An explainable boosting machine comes out as what it is: interpret's terms, each with
// one column, and interpret's intercept, with no deep part.
func TestExplainableBoostingMachines(t *testing.T) {
	var file struct{ Machines map[string]machine }
	if err := json.Unmarshal(graphtest.GoldenBytes(t, "ebm.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Machines) != 7 {
		t.Errorf("%d machines", len(file.Machines))
	}
	for name, want := range file.Machines {
		t.Run(name, func(t *testing.T) {
			m, n, v := zooModel(t, "interpret/"+name, nil)
			b, err := n.batch(m, v)
			if err != nil {
				t.Fatal(err)
			}
			out, err := forwardOf(t, m, b)
			if err != nil {
				t.Fatal(err)
			}
			for class, k := range want.predictors(m.Predictors()) {
				if m.Structure().Predictors[k].Deep != nil || len(m.Blocks(k)) != len(want.Terms) {
					t.Fatalf("%s: %q, want interpret's %d terms", m.Predictors()[k], shape(m.Structure().Predictors[k]), len(want.Terms))
				}
				if got := m.Intercept(k); math.Abs(got-want.Intercept[class]) > 1e-7 {
					t.Errorf("%s: intercept %v, in interpret %v", m.Predictors()[k], got, want.Intercept[class])
				}
				for i, block := range m.Blocks(k) {
					tap := block.Term.(*decompose.Tap)
					if !slices.Equal(tap.Features, want.Terms[i].Columns) || len(block.Coef) != 1 {
						t.Fatalf("%s: a term of %q with %d columns, in interpret %q", m.Predictors()[k], tap.Features, len(block.Coef), want.Terms[i].Columns)
					}
					for row, w := range want.Terms[i].Scores[class*v.rows : (class+1)*v.rows] {
						if got := block.Coef[0] * out.Taps[tap.Tensor].At(row, 0); math.Abs(got-w) > 1e-7 {
							t.Errorf("%s: row %d of f(%q) is %v, in interpret %v", m.Predictors()[k], row, tap.Features, got, w)
						}
					}
				}
			}
		})
	}
}

// predictors are the numbers of those that a machine's classes have. Of two classes
// interpret has the second's scores; the first's are 0. Of a regression it has one; the
// terms that the file repeats as an output are no predictors.
func (m *machine) predictors(all []string) []int {
	switch classes := len(m.Intercept); {
	case classes > 1:
		return []int{0, 1, 2}[:classes]
	case slices.Contains(all, "probabilities2"):
		return []int{slices.Index(all, "probabilities2")}
	}
	return []int{slices.Index(all, "eta")}
}
