package decompose_test

import (
	"context"
	"math"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// Errors of contributions are those of the effects at the same rows.
func TestErrorsOfParts(t *testing.T) {
	tab := table(t, 1500, 40)
	m := smooth(t, tab, `~ s(x0, bs="ps", k=12) + x1 + day + factor(year) + s(year, bs="cr", k=4)`)
	r, _ := run(t, m, tab, decompose.Options{})
	a := mustApplier(t, r, m).WithErrors()
	if !a.HasErrors() || mustApplier(t, r, m).HasErrors() {
		t.Fatal("HasErrors")
	}
	row := 0
	whole := all(t, tab, tab.Rows())
	var effects []*decompose.Effect
	for j := range r.Predictors[0].Terms {
		e, err := a.Effect(context.Background(), 0, j, whole)
		if err != nil {
			t.Fatal(err)
		}
		effects = append(effects, e)
	}
	for parts, err := range a.All(context.Background(), tab) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts.Batch.Rows() {
			for j, e := range effects {
				got, want := parts.Predictors[0].SE.At(i, j), e.SE[row]
				if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
					t.Fatalf("row %d, term %d: %g, the effect's %g", row, j, got, want)
				}
			}
			row++
		}
	}
	if row != tab.Rows() {
		t.Errorf("%d rows", row)
	}
}
