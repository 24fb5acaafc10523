package decompose_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestPartsInto: whatever a Parts held before, from batches of other lengths and
// from other workers' rows, it holds the parts of the batch afterwards.
func TestPartsInto(t *testing.T) {
	ctx := context.Background()
	m, tab := newFake(2).withTap(), table(t, 700, 5)
	r, err := decompose.Decompose(ctx, m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := all(t, tab, 700)
	for _, a := range []*decompose.Applier{mustApplier(t, r, m), mustApplier(t, r, m).WithErrors()} {
		want, err := a.Parts(ctx, whole)
		if err != nil {
			t.Fatal(err)
		}
		var workers sync.WaitGroup
		for w := range 4 {
			workers.Go(func() {
				var got decompose.Parts
				at := w
				for _, n := range []int{1, 600, 0, 1, 1, 256, 257, 3} {
					b := whole.Slice(at, at+n)
					if err := a.PartsInto(ctx, &got, b); err != nil {
						t.Error(err)
						return
					}
					if got.Batch != b {
						t.Errorf("rows %d to %d: the parts are of another batch", at, at+n)
					}
					for k := range got.Predictors {
						p, q := &got.Predictors[k], &want.Predictors[k]
						if p.Intercept != q.Intercept || !slices.Equal(p.Eta, q.Eta[at:at+n]) || !slices.Equal(p.Unstructured, q.Unstructured[at:at+n]) || (p.SE != nil) != a.HasErrors() && n > 0 {
							t.Errorf("rows %d to %d: predictor %d differs", at, at+n, k)
						}
						for i := range n {
							if !slices.Equal(p.Row(i), q.Row(at+i)) || a.HasErrors() && !slices.Equal(p.SE.RawRowView(i), q.SE.RawRowView(at+i)) {
								t.Errorf("row %d: the parts of predictor %d differ", at+i, k)
								return
							}
						}
					}
					at += n % 50
				}
			})
		}
		workers.Wait()
	}
}
