package decompose_test

import (
	"math"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestSplitsOfOddRows: margins that are collinear, combinations that do not occur, a column of two values, a factor in a tensor product,
// an interaction without its margins and weights of 0 give errors that are finite, or none; never ones of 0 for
// a term that varies. One cluster is an error.
func TestSplitsOfOddRows(t *testing.T) {
	const n = 200
	tab := splitTable(t, n, 9)
	b := all(t, tab, n)
	a, err := b.Numeric("a")
	must(t, err)
	twice, two, w, same := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	g, h := make([]string, n), make([]string, n)
	for i := range n {
		twice[i], two[i], w[i], same[i] = 2*a[i]+1, float64(i%2), float64(i%3/2), "one"
		g[i], h[i] = string(rune('a'+i%4)), string(rune('p'+i%3))
		if i%4 == 1 {
			h[i] = "p" // other combinations do not occur
		}
	}
	rows := splitTable(t, n, 9)
	for name, v := range map[string][]float64{"twice": twice, "two": two, "zeros": w} {
		must(t, rows.AddNumeric(name, v))
	}
	for name, v := range map[string][]string{"same": same, "g4": g, "h3": h} {
		must(t, rows.AddTexts(name, v))
	}
	for _, c := range []struct {
		formula string
		columns decompose.Columns
	}{
		{"~ a + twice + b + a:b + twice:b", decompose.Columns{}},
		{"~ g4 + h3 + g4:h3", decompose.Columns{}},
		{"~ g4 + h3 + g4:h3 + a + g4:a", decompose.Columns{Weights: "zeros"}},
		{"~ a:b + c", decompose.Columns{Weights: "zeros"}},
		{"~ a + a:b", decompose.Columns{}},
		{"~ s(a,k=5) + two + a:two + s(b,by=two,k=5)", decompose.Columns{}},
		{`~ s(a,k=5) + g4 + ti(a,g4,k=c(5,4),bs=c("cr","re"))`, decompose.Columns{}},
		{"~ a + b + a:b", decompose.Columns{Weights: "zeros", Cluster: "k"}},
	} {
		r := splitRun(t, rows, c.formula, c.columns)
		m := responseAsNetwork(t, rows, c.formula, "y")
		for j, term := range r.Predictors[0].Terms {
			e, err := mustApplier(t, r, m).SimultaneousEffect(t.Context(), 0, []int{j}, all(t, rows, 30), 1)
			must(t, err)
			known := 0.0
			for i, v := range e.SE {
				if math.IsNaN(v) == term.Identified || math.IsInf(v, 0) || math.IsNaN(e.Simultaneous[i]) != math.IsNaN(v) {
					t.Errorf("%s: standard error of %s is %v, identified %v", c.formula, term.Name, v, term.Identified)
				}
				known = max(known, v)
			}
			if term.Identified && !(known > 1e-3*math.Sqrt(term.After.Variance)) {
				t.Errorf("%s: standard errors of %s are at most %v", c.formula, term.Name, known)
			}
		}
	}
	if _, err := decompose.Decompose(t.Context(), responseAsNetwork(t, rows, "~ a + b + a:b", "y"), rows, &decompose.Options{Columns: decompose.Columns{Cluster: "same"}}); err == nil {
		t.Error("one cluster has bands")
	}
}

func splitRun(t *testing.T, rows *data.Table, formula string, columns decompose.Columns) *decompose.Result {
	t.Helper()
	return decomposed(t, responseAsNetwork(t, rows, formula, "y"), rows, &decompose.Options{Columns: columns})
}
