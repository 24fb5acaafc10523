package basis

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestOneHotIsFactor: columns of 0 and 1 are the factor that they were made of.
func TestOneHotIsFactor(t *testing.T) {
	b := sample(t, 60, 3)
	values := func(term decompose.Term) *mat.Dense {
		x := mat.NewDense(b.Rows(), term.Dim(), nil)
		must(t, term.Eval(x, b))
		return x
	}
	factor := mustBuild(t, Factor("g", nil), b)[0] // high, low, mid
	coded := mustBuild(t, OneHot([]string{"g_high", "g_low", "g_mid"}, nil), b)[0]
	bits(t, "three columns", values(coded.Term), values(factor.Term))
	rest := mustBuild(t, OneHot([]string{"g_low", "g_mid"}, nil), b)[0]
	bits(t, "two columns and none", values(rest.Term), values(factor.Term))
	term := rest.Term.(*OneHotTerm)
	if got := term.Levels(); !slices.Equal(got, []string{NoLevel, "g_low", "g_mid"}) {
		t.Errorf("levels %q", got)
	}
	grid := data.NewBatch(3, 0)
	must(t, term.SetLevels(grid, []int{2, 0, 1}))
	x := mat.NewDense(3, 3, nil)
	must(t, term.Eval(x, grid))
	bits(t, "rows at levels", x, mat.NewDense(3, 3, []float64{0, 0, 1, 1, 0, 0, 0, 1, 0}))
}

// TestOneHotFaults: rows that are of no level, or of two.
func TestOneHotFaults(t *testing.T) {
	b := data.NewBatch(2, 0)
	must(t, b.SetNumeric("a", []float64{1, 0}))
	must(t, b.SetNumeric("b", []float64{0, 1}))
	must(t, b.SetNumeric("both", []float64{0, 1}))
	must(t, b.SetNumeric("half", []float64{0, 0.5}))
	for columns, says := range map[string]string{
		"b both": `term onehot(b,both): data row 2: columns "b" and "both" are both 1`,
		"a half": `term onehot(a,half): data row 2: column "half" is 0.5`,
		"a nope": `"nope"`,
	} {
		scan := OneHot(strings.Fields(columns), nil).Scanner()
		if err := scan.Scan(b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v", columns, err)
		}
	}
	term := mustBuild(t, OneHot([]string{"a", "b"}, nil), b)[0].Term
	none := data.NewBatch(1, 7)
	must(t, none.SetNumeric("a", []float64{0}))
	must(t, none.SetNumeric("b", []float64{0}))
	if err := term.Eval(mat.NewDense(1, 2, nil), none); err == nil || !strings.Contains(err.Error(), "data row 8: none of its columns is 1") {
		t.Errorf("a level that did not occur: %v", err)
	}
	for _, spec := range []string{`{"onehot":["a"],"name":"onehot(a)"}`, `{"onehot":["a","a"],"name":"n"}`, `{"onehot":["a","b"]}`, `{"onehot":["a",""],"name":"n"}`} {
		if term, err := Decode(decompose.Factor, json.RawMessage(spec)); err == nil {
			t.Errorf("%s: %v", spec, term)
		}
	}
}
