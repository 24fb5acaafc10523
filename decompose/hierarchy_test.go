package decompose_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// hierarchyCase is a model that hierarchy.R has split by brute force.
type hierarchyCase struct {
	Name, Formula, Weights string
	Rows                   int
	Keep                   []int // rows; empty: all
	SP                     map[string][]float64
	Rank, Of               int
	Smallest               float64
	At                     []int
	Terms                  []struct {
		Name                 string
		Fitted, Hierarchical []float64
		SE                   []float64
		Variance, Share      float64
	}
}

func readHierarchy(t *testing.T) []*hierarchyCase {
	t.Helper()
	text, err := os.ReadFile("../testdata/golden/hierarchy.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct{ Cases []*hierarchyCase }
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g.Cases
}

func (c *hierarchyCase) table(t *testing.T, g *formulasGolden) *data.Table {
	if len(c.Keep) == 0 {
		return g.table(t, c.Rows, nil)
	}
	return g.table(t, c.Rows, c.Keep)
}

// fit decomposes the response, as a black box without structure, by the case's formula.
func (c *hierarchyCase) fit(t *testing.T, tab *data.Table, split decompose.Terms) (*decompose.Result, decompose.Model) {
	t.Helper()
	m := responseAsNetwork(t, tab, c.Formula, "y")
	r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{
		Bands:      decompose.ProjectionBands, // those of the golden file
		Projection: decompose.Projection{Terms: split},
		Columns:    decompose.Columns{Weights: c.Weights},
		Smoothing:  decompose.Smoothing{SP: c.SP},
		Visitors:   []decompose.Visitor{importance.New(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// responseAsNetwork is the column y as a network without structure, with the terms of a formula.
func responseAsNetwork(t testing.TB, tab *data.Table, formula, y string) decompose.Model {
	t.Helper()
	parsed, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(t.Context(), tab, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&responses{[]string{"eta"}, []string{y}}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func termNamed(t testing.TB, r *decompose.Result, name string) (int, *decompose.TermResult) {
	t.Helper()
	p := &r.Predictors[0]
	j := slices.IndexFunc(p.Terms, func(t decompose.TermResult) bool { return t.Name == name })
	if j < 0 {
		t.Fatalf("no term %q", name)
	}
	return j, &p.Terms[j]
}

// TestHierarchyByBruteForce compares terms with those that regressions on all rows give in
// R, one joint problem for all terms, and the terms as they are fitted with mgcv's own.
func TestHierarchyByBruteForce(t *testing.T) {
	g := readFormulas(t)
	for _, c := range readHierarchy(t) {
		t.Run(c.Name, func(t *testing.T) {
			tab := c.table(t, g)
			at := all(t, tab, tab.Rows())
			for _, split := range []decompose.Terms{decompose.Fitted, ""} {
				r, m := c.fit(t, tab, split)
				a := mustApplier(t, r, m)
				size := 0.0
				for _, want := range c.Terms {
					size = math.Max(size, slices.Max(want.Hierarchical))
				}
				for _, want := range c.Terms {
					j, term := termNamed(t, r, want.Name)
					e, err := a.Effect(t.Context(), 0, j, at)
					if err != nil {
						t.Fatal(err)
					}
					values := want.Hierarchical
					if split == decompose.Fitted {
						values = want.Fitted
					}
					far := 0.0
					for i, row := range c.At {
						far = math.Max(far, math.Abs(e.After[row]-values[i])/size)
					}
					// The fits agree to 1e-7, as in TestFormulas.
					if !(far <= 1e-7) && !(split == decompose.Fitted && c.Name == "disconnected") {
						t.Errorf("%s split %q: values differ by %.2g of the largest", want.Name, split, far)
					}
					if split == decompose.Fitted {
						continue
					}
					far = 0
					for i, row := range c.At {
						far = math.Max(far, math.Abs(e.SE[row]-want.SE[i])/slices.Max(want.SE))
					}
					if !(far <= 1e-7) && c.Name != "disconnected" { // where there are none
						t.Errorf("%s: standard errors differ by %.2g of the largest", want.Name, far)
					}
					if v := term.After.Variance; math.Abs(v-want.Variance) > 1e-7*size*size {
						t.Errorf("%s: variance %v, want %v", want.Name, v, want.Variance)
					}
					for _, i := range r.Predictors[0].Importance {
						if slices.Equal(i.Terms, []string{want.Name}) && math.Abs(i.VarianceShare-want.Share) > 1e-7 {
							t.Errorf("%s: share %v, want %v", want.Name, i.VarianceShare, want.Share)
						}
					}
				}
				if split == "" {
					h := r.Predictors[0].Hierarchy
					if h.Rank != c.Rank || h.Of != c.Of || math.Abs(h.Smallest-c.Smallest) > 1e-6 {
						t.Errorf("rank %d of %d, smallest eigenvalue %v; want %d of %d, %v", h.Rank, h.Of, h.Smallest, c.Rank, c.Of, c.Smallest)
					}
				}
			}
		})
	}
}
