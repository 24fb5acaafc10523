package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// predicted is eta of a network of predictions, and its heads.
func predicted(t *testing.T, names []string, link string, clip float64, rows [][]float64) (eta *mat.Dense, heads []string) {
	t.Helper()
	g, err := Predictions(names, link, clip)
	if err != nil {
		t.Fatal(err)
	}
	b, in := data.NewBatch(len(rows), 0), BoundInput{Input: PredictionsInput}
	for j := range names {
		column := fmt.Sprintf("p%d", j)
		in.Columns = append(in.Columns, column)
		var values []float64
		for _, r := range rows {
			values = append(values, r[j])
		}
		if err := b.SetNumeric(column, values); err != nil {
			t.Fatal(err)
		}
	}
	m, err := NewModel(g, Binding{in}, &Options{NoStructure: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Structure().Predictors {
		heads = append(heads, p.Head)
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(len(rows), k, nil), Eta: mat.NewDense(len(rows), k, nil)}
	if err := m.Forward(t.Context(), out, b); err != nil {
		t.Fatal(err)
	}
	return out.Eta, heads
}

// Each link by its definition, at predictions near the ends of its range too.
func TestPredictionsAreLinked(t *testing.T) {
	for _, c := range []struct {
		link, head string
		clip       float64
		at         []float64
		eta        func(p float64) float64
	}{
		{"identity", "", 0, []float64{-3, 0, 1e8}, func(p float64) float64 { return p }},
		{"log", "exp", 0, []float64{1e-300, 0.5, 1e8}, math.Log},
		{"logit", "sigmoid", 0, []float64{1e-12, 0.5, 1 - 1e-12}, func(p float64) float64 { return math.Log(p) - math.Log1p(-p) }},
		{"logit", "sigmoid", 1e-3, []float64{0, 0.5, 1}, func(p float64) float64 {
			p = min(max(p, 1e-3), 1-1e-3)
			return math.Log(p) - math.Log1p(-p)
		}},
		{"cloglog", "inv_cloglog", 0, []float64{1e-3, 0.5, 1 - 1e-12}, func(p float64) float64 { return math.Log(-math.Log1p(-p)) }},
		{"softplus", "softplus", 0, []float64{1e-3, 0.5, 50}, func(p float64) float64 { return math.Log(math.Expm1(p)) }},
	} {
		var rows [][]float64
		for _, p := range c.at {
			rows = append(rows, []float64{p})
		}
		eta, heads := predicted(t, []string{"eta"}, c.link, c.clip, rows)
		if !slices.Equal(heads, []string{c.head}) {
			t.Errorf("%s: the heads are %q, want %q", c.link, heads, c.head)
		}
		for i, p := range c.at {
			if got, want := eta.At(i, 0), c.eta(p); math.Abs(got-want) > 1e-12*math.Max(1, math.Abs(want)) { // 1 - exp(-p) loses digits at 1e-3
				t.Errorf("%s: eta at %v is %v, want %v", c.link, p, got, want)
			}
		}
	}
}

// Probabilities of classes are a softmax over predictors that are their logarithms.
func TestPredictionsOfClasses(t *testing.T) {
	names := []string{"setosa", "versicolor", "virginica"}
	eta, heads := predicted(t, names, "softmax", 0, [][]float64{{0.2, 0.3, 0.5}, {0.1, 0.1, 0.8}})
	for k, want := range []float64{0.2, 0.3, 0.5} {
		if got := math.Exp(eta.At(0, k)); math.Abs(got-want) > 1e-15 {
			t.Errorf("class %d: %v, want %v", k, got, want)
		}
	}
	if !slices.Equal(heads, []string{"softmax", "softmax", "softmax"}) {
		t.Errorf("heads %q", heads)
	}
}

func TestPredictionsFaults(t *testing.T) {
	for _, c := range []struct {
		names []string
		link  string
		clip  float64
		want  string
	}{
		{nil, "identity", 0, "no predictions"},
		{[]string{"p"}, "probit", 0, `"probit"`},
		{[]string{"p"}, "softmax", 0, "one column"},
		{[]string{"p"}, "log", 0.1, "for probabilities"},
		{[]string{"p"}, "logit", 0.5, "between 0 and 0.5"},
		{[]string{"p", "p"}, "log", 0, "twice"},
	} {
		if _, err := Predictions(c.names, c.link, c.clip); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %s %v: %v, want %q", c.names, c.link, c.clip, err, c.want)
		}
	}
}
