package decompose_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
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
