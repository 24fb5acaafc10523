package basis

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

type ridgeCase struct {
	Name, Formula, Data string
	Weights, Select     bool
	SP                  []float64
	EDF, Score          float64
	Fitted              []float64
	Slopes              map[string]float64
}

func readRidge(t *testing.T) (map[string]*data.Table, []ridgeCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "golden", "basis", "ridge.json"))
	must(t, err)
	var g struct {
		Data  map[string]map[string]json.RawMessage
		Cases []ridgeCase
	}
	must(t, json.Unmarshal(text, &g))
	tables := map[string]*data.Table{}
	for name, columns := range g.Data {
		var y []float64
		must(t, json.Unmarshal(columns["y"], &y))
		tab := data.NewTable(len(y))
		for _, column := range byNumber(columns) {
			var x []float64
			if err := json.Unmarshal(columns[column], &x); err == nil {
				must(t, tab.AddNumeric(column, x))
				continue
			}
			var texts []string
			must(t, json.Unmarshal(columns[column], &texts))
			must(t, tab.AddTexts(column, texts))
		}
		tables[name] = tab
	}
	return tables, g.Cases
}

// byNumber are the names in order of length, then of bytes, x9 before x10: ranges go by it.
func byNumber(columns map[string]json.RawMessage) (names []string) {
	for name := range columns {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		if a < b {
			return -1
		}
		return 1
	})
	return names
}

// TestRidgeAgainstMgcv: linear terms penalised together, random effects with one smoothing
// parameter and terms that can be taken out are mgcv's models under REML. Optima of REML are
// flat: what follows from lambda agrees to the root of the score's digits; a lambda on its way
// to infinity is compared by what it does.
func TestRidgeAgainstMgcv(t *testing.T) {
	tables, cases := readRidge(t)
	if len(cases) != 6 {
		t.Fatalf("%d cases", len(cases))
	}
	const tolerance = 1e-6
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tab := tables[c.Data]
			f, err := Parse(c.Formula, &Options{Schema: tab.Schema(), Select: c.Select, Response: "y"})
			must(t, err)
			blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
			must(t, err)
			m, err := decompose.With(response{}, map[string][]decompose.Block{"": blocks})
			must(t, err)
			o := &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM, Terms: decompose.Fitted}}
			if c.Weights {
				o.Weights = "w"
			}
			r, err := decompose.Decompose(t.Context(), m, tab, o)
			must(t, err)
			p := &r.Predictors[0]
			t.Logf("sp %v, mgcv's %v; edf %v, mgcv's %v", p.Terms[0].SP, c.SP, p.EDF, c.EDF)
			if !strings.HasPrefix(p.Status, "converged") {
				t.Errorf("status %q", p.Status)
			}
			if d := math.Abs(p.EDF - c.EDF); !(d <= tolerance*c.EDF) {
				t.Errorf("edf %v, mgcv's %v", p.EDF, c.EDF)
			}
			if p.Score == nil {
				t.Error("no score")
			} else if d := math.Abs(*p.Score - c.Score); !(d <= 1e-7*math.Abs(c.Score)) {
				t.Errorf("score %v, mgcv's %v", *p.Score, c.Score)
			}
			a, err := r.Applier(m)
			must(t, err)
			at, size := 0, 0.0
			for _, v := range c.Fitted {
				size = max(size, math.Abs(v))
			}
			for parts, err := range a.All(t.Context(), tab) {
				must(t, err)
				eta := parts.Predictors[0]
				n, k := eta.Terms.Dims()
				for i := range n {
					sum := r.Predictors[0].Intercept
					for j := range k {
						sum += eta.Terms.At(i, j)
					}
					if d := math.Abs(sum - c.Fitted[at+i]); !(d <= tolerance*size) {
						t.Fatalf("row %d: fitted %v, mgcv's %v", at+i, sum, c.Fitted[at+i])
					}
				}
				at += n
			}
			coefficients, err := r.Coefficients(0)
			must(t, err)
			found := 0
			for _, b := range coefficients {
				name := b.Column
				if name == "" {
					name = b.Term
				}
				want, ok := c.Slopes[name]
				if !ok {
					continue
				}
				found++
				sd := 0.0
				for _, f := range r.Features {
					if f.Name == name {
						sd = (f.Max - f.Min) / 4
					}
				}
				if d := sd * math.Abs(b.Estimate-want); !(d <= tolerance*size) {
					t.Errorf("%s: slope %v, mgcv's %v", name, b.Estimate, want)
				}
			}
			if found != len(c.Slopes) {
				t.Errorf("%d slopes of %d", found, len(c.Slopes))
			}
		})
	}
}

// TestMoreColumnsThanRows: of 60 linear terms on 40 rows only the sum is told, and warnings say
// that it explains anything.
func TestMoreColumnsThanRows(t *testing.T) {
	tables, _ := readRidge(t)
	tab := tables["wide"]
	f, err := Parse("~ x1..x60", &Options{Schema: tab.Schema(), Response: "y"})
	must(t, err)
	blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(response{}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r, err := decompose.Decompose(t.Context(), m, tab, nil)
	must(t, err)
	p := &r.Predictors[0]
	if p.Rank != 40 || len(p.Terms) != 60 || !strings.Contains(strings.Join(r.Warnings, "\n"), "they explain anything") {
		t.Errorf("rank %d, %d terms, warnings %q", p.Rank, len(p.Terms), r.Warnings)
	}
	for _, term := range p.Terms {
		if term.Verdict != decompose.Sum || slices.ContainsFunc(term.Alpha, func(a float64) bool { return math.IsNaN(a) || math.IsInf(a, 0) }) {
			t.Errorf("%s: %s, alpha %v", term.Name, term.Verdict, term.Alpha)
		}
	}
}

// TestRidgeNames: short names of many columns stay names of one term.
func TestRidgeNames(t *testing.T) {
	f, err := Parse("~ ridge(a, b, c, d, e) + ridge(a, g, h, i, e)", nil)
	must(t, err)
	var names []string
	for _, s := range f.Specs {
		names = append(names, mustBuild(t, s, data.NewBatch(0, 0))[0].Term.Name())
	}
	if want := []string{"ridge(a..e)", "ridge(a,g,h,i,e)"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if _, err := Parse("~ ridge(a, b) + ridge(b, a)", nil); err == nil {
		t.Error("one term twice")
	}
}

// TestRidgeTerm: the columns side by side, in an artifact too; faults are told.
func TestRidgeTerm(t *testing.T) {
	b := sample(t, 60, 3)
	spec := LinearRidge([]string{"x", "z"}, nil)
	must(t, decomposetest.Spec(spec, Decode, b))
	term := mustBuild(t, spec, b)[0].Term
	must(t, decomposetest.Term(term, b))
	if term.Name() != "ridge(x,z)" || term.Kind() != decompose.Linear {
		t.Errorf("%s of kind %s", term.Name(), term.Kind())
	}
	x := mat.NewDense(60, 2, nil)
	must(t, term.Eval(x, b))
	for j, c := range []string{"x", "z"} {
		want, err := b.Numeric(c)
		must(t, err)
		if !slices.Equal(mat.Col(nil, j, x), want) {
			t.Errorf("column %s is not as it is", c)
		}
	}
	for _, columns := range [][]string{nil, {"x", "x"}, {""}} {
		if _, err := LinearRidge(columns, nil).Scanner().Build(); err == nil {
			t.Errorf("columns %q pass", columns)
		}
	}
	for _, spec := range []string{`{"ridge":[],"name":"n"}`, `{"ridge":["a","a"],"name":"n"}`, `{"ridge":["a"]}`, `{"ridge":["a"],"name":"n","more":1}`} {
		if term, err := Decode(decompose.Linear, json.RawMessage(spec)); err == nil {
			t.Errorf("%s: %v", spec, term)
		}
	}
}
