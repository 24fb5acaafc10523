package native

import (
	"context"
	"math"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestOnlineFaults shows what the paper says of online orthogonalization
// (Limitations 2 and 3), next to PHO, which has neither fault: a row's prediction
// depends on the rows that come with it, and with fewer rows than structured
// columns the deep part has no effect at all.
func TestOnlineFaults(t *testing.T) {
	tab := simulated(t, 800, 9)
	cfg := Config{
		Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=10)`}}, // 11 columns with the intercept
		Deep:       Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{32, 16}, Orthogonalize: true},
		Training:   Training{Epochs: 30, Seed: 1, BatchSize: 128},
	}
	m, _ := mustTrain(t, cfg, tab)
	b := whole(t, tab)
	all, err := m.PredictOnline(b)
	if err != nil {
		t.Fatal(err)
	}
	few, err := m.PredictOnline(b.Slice(0, 64))
	if err != nil {
		t.Fatal(err)
	}
	differ := 0.0
	for i := range 64 {
		differ = math.Max(differ, math.Abs(all.At(i, 0)-few.At(i, 0)))
	}
	if differ < 0.1 { // the noise of y is 5, its standard deviation 25
		t.Errorf("predictions of the same rows in batches of 800 and 64 differ by %g only", differ)
	}

	// b < p: the deep part is projected away, what is left is the formula.
	tiny := b.Slice(0, 4) // any 4 rows of 11 columns are independent
	online, err := m.PredictOnline(tiny)
	if err != nil {
		t.Fatal(err)
	}
	formula, err := m.formula(0, tiny)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if got, want := online.At(i, 0), m.Intercept(0)+formula[i]; math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("row %d of 4: %v, the formula alone gives %v", i, got, want)
		}
	}

	// PHO on an unconstrained network of the same kind: row by row the same in any
	// batch, and the deep part of 4 rows is that of 800.
	cfg.Deep.Orthogonalize = false
	free, _ := mustTrain(t, cfg, tab)
	if _, err := free.PredictOnline(b); err == nil {
		t.Error("PredictOnline of a network trained without")
	}
	r, err := decompose.Decompose(context.Background(), free, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		t.Fatal(err)
	}
	applier, err := r.Applier(free)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := applier.Parts(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := applier.Parts(context.Background(), tiny)
	if err != nil {
		t.Fatal(err)
	}
	deep := 0.0
	for i := range 4 {
		u := narrow.Predictors[0].Unstructured[i]
		if u != wide.Predictors[0].Unstructured[i] {
			t.Errorf("row %d: unstructured part %v among 4 rows, %v among 800", i, u, wide.Predictors[0].Unstructured[i])
		}
		deep = math.Max(deep, math.Abs(u))
	}
	if deep < 0.1 {
		t.Errorf("the deep part of PHO is %g", deep)
	}
	if r.Predictors[0].Orthogonality > 1e-8 {
		t.Errorf("correlation %g between the parts", r.Predictors[0].Orthogonality)
	}
}
