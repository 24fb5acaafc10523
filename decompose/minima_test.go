package decompose_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestBetterOfTwoMinima: REML of log Ozone, in R's airquality, has two minima that differ in three
// smoothing parameters at once. mgcv 1.8-41 (epsilon 1e-14, conv.tol 1e-11) finds 98.9736884607,
// with 2.4136, 2.6069 and 4.7763 degrees of freedom; the usual start alone leads to 100.094. What
// is no more likely than that is told.
func TestBetterOfTwoMinima(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/sandwich.json")
	must(t, err)
	var golden struct{ Columns map[string]json.RawMessage }
	must(t, json.Unmarshal(raw, &golden))
	tab := airQuality(t, golden.Columns)
	ozone, err := all(t, tab, tab.Rows()).Numeric("Ozone")
	must(t, err)
	logs := make([]float64, len(ozone))
	for i, v := range ozone {
		logs[i] = math.Log(v)
	}
	must(t, tab.AddNumeric("logarithm", logs))
	f, err := basis.Parse(`~ s(Solar.R) + s(Wind) + s(Temp, month, bs="re")`, &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"logarithm"}}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r := decomposed(t, m, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}})
	p := r.Predictors[0]
	near(t, "REML", *p.Score, 98.9736884607, 1e-8)
	for j, want := range []float64{2.4136, 2.6069, 4.7763} {
		near(t, p.Terms[j].Name, p.Terms[j].EDF, want, 1e-3)
	}
	if told := strings.Join(r.Warnings, "\n"); !strings.Contains(told, "two minima, 98.9737, which was taken, and 100.094") || !strings.Contains(told, "s(Temp,month) 4.78 (3.26)") {
		t.Error(told)
	}
}

// TestBetterMinimumIsStraighter: of the minima of these rows the best one, 93.2653, is found from
// nearly straight terms; from the usual start and from hardly penalised terms, 93.3295.
func TestBetterMinimumIsStraighter(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(52, 1))
	columns := make([][]float64, 4)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range columns[j] {
			columns[j][i] = rng.NormFloat64()
		}
	}
	tab := data.NewTable(n)
	for i := range n {
		columns[1][i] *= columns[1][i] * columns[1][i]
		columns[3][i] += columns[0][i] * columns[0][i] / 3
	}
	for j, name := range []string{"a", "b", "c", "y"} {
		must(t, tab.AddNumeric(name, columns[j]))
	}
	f, err := basis.Parse(`~ s(a, bs="tp", k=12) + s(b, bs="ps", k=8) + s(c, bs="tp", k=15)`, &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r := decomposed(t, m, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}})
	near(t, "REML", *r.Predictors[0].Score, 93.265317, 1e-6)
	if told := strings.Join(r.Warnings, "\n"); !strings.Contains(told, "two minima, 93.2653, which was taken, and 93.3295") {
		t.Error(told)
	}
}
