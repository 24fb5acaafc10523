package decompose_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestStandardErrorsOfRows compares standard errors of many rows, which use how the columns
// are stored, with the product of centred rows and the covariance.
func TestStandardErrorsOfRows(t *testing.T) {
	ctx, tab := t.Context(), table(t, 3000, 8)
	batch := all(t, tab, 3000)
	for _, c := range []struct {
		formula string
		bands   decompose.Bands
	}{
		{`~ s(x0,bs="ps",k=9) + x1 + day + s(x2,k=6) + te(x0,x2,k=4)`, ""},
		{`~ s(x1,bs="cp",k=8) + s(x0,by=day,bs="ps",k=8) + s(day,bs="re")`, ""},
		{`~ te(x0,x1,bs="ps",k=c(8,7)) + s(x2,by=x1,bs="ps")`, decompose.ProjectionBands},
		{`~ day + x1 + day:x1`, ""},
		{`~ x1 + s(x0) + x2`, decompose.NoBands},
	} {
		m := formulaModel(t, c.formula, tab, 2)
		r := decomposed(t, m, tab, &decompose.Options{Columns: decompose.Columns{Weights: "w"}, Bands: c.bands})
		a := mustApplier(t, r, m).WithErrors()
		parts, err := a.Parts(ctx, batch)
		must(t, err)
		for k := range r.Predictors {
			for j := range r.Predictors[k].Terms {
				e, err := a.Effect(ctx, k, j, batch)
				must(t, err)
				// For te() the errors cancel from covariances 300 times as large, of s(x0).
				if got := mat.Col(nil, j, parts.Predictors[k].SE); !equalSquares(got, e.SE, 1e-11) {
					t.Errorf("%s: the standard errors of %q differ", c.formula, r.Predictors[k].Terms[j].Name)
				}
			}
		}
	}
}

// equalSquares tells whether the squares of a and b are the same to a share of the largest,
// NaN where the other is: an error of 0 is the root of rounding.
func equalSquares(a, b []float64, share float64) bool {
	size := 0.0
	for _, v := range b {
		size = math.Max(size, v*v)
	}
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x != x && y != y || math.Abs(x*x-y*y) <= share*size })
}

// TestApplyInWorkers: neither workers nor batches change a bit of the parts.
func TestApplyInWorkers(t *testing.T) {
	const rows = 9000 // more than two chunks, and than two shares of a batch
	ctx, tab := t.Context(), table(t, rows, 9)
	m := formulaModel(t, `~ s(x0,bs="ps",k=9) + x1 + day`, tab, 2)
	r := decomposed(t, m, tab, nil)
	one := mustApplier(t, r, m).WithErrors().WithWorkers(1)
	want, err := one.Parts(ctx, all(t, tab, rows))
	must(t, err)
	for _, workers := range []int{0, 1, 2, 5} {
		a := one.WithWorkers(workers)
		got, err := a.Parts(ctx, all(t, tab, rows))
		must(t, err)
		equalParts(t, got, want, 0)
		tab.BatchRows = 777
		at := 0
		for p, err := range a.All(ctx, tab) {
			must(t, err)
			equalParts(t, p, want, at)
			at += p.Batch.Rows()
		}
		if at != rows {
			t.Errorf("%d workers: %d rows", workers, at)
		}
		v := &visited{t: t, want: want}
		must(t, a.Visit(ctx, tab, v))
		if !v.ended || v.at != rows {
			t.Errorf("%d workers: visited %d rows, ended: %v", workers, v.at, v.ended)
		}
	}
}

// equalParts compares parts with those of the rows from at on.
func equalParts(t *testing.T, got, want *decompose.Parts, at int) {
	t.Helper()
	n := got.Batch.Rows()
	for k := range want.Predictors {
		p, q := &got.Predictors[k], &want.Predictors[k]
		same := p.Intercept == q.Intercept && slices.Equal(p.Eta, q.Eta[at:at+n]) && slices.Equal(p.Unstructured, q.Unstructured[at:at+n])
		for i := range n {
			same = same && slices.Equal(p.Row(i), q.Row(at+i)) && slices.Equal(p.SE.RawRowView(i), q.SE.RawRowView(at+i))
		}
		if !same {
			t.Fatalf("rows %d to %d of predictor %d differ", at, at+n, k)
		}
	}
}

// visited is a visitor that expects the rows of want, in order.
type visited struct {
	t            *testing.T
	want         *decompose.Parts
	at           int
	began, ended bool
	fault        error // of Reduce
}

func (v *visited) Begin(*decompose.Result) error { v.began = true; return nil }
func (v *visited) Columns() []string             { return []string{"w"} }
func (v *visited) End(*decompose.Result) error   { v.ended = true; return nil }

func (v *visited) Map(p *decompose.Parts) (any, error) {
	if _, err := p.Batch.Numeric("w"); err != nil {
		return nil, err
	}
	return p.Clone(), nil
}

func (v *visited) Reduce(part any) error {
	p := part.(*decompose.Parts)
	equalParts(v.t, p, v.want, v.at)
	v.at += p.Batch.Rows()
	return v.fault
}

// TestApplyStops: faults of the rows, of a visitor and of the context end the work and come
// back, a visitor does not end then, and a loop may be left.
func TestApplyStops(t *testing.T) {
	tab := table(t, 9000, 9)
	m := formulaModel(t, `~ x1`, tab, 1)
	r := decomposed(t, m, tab, nil)
	a := mustApplier(t, r, m).WithErrors().WithWorkers(2)
	want, err := a.Parts(t.Context(), all(t, tab, 9000))
	must(t, err)
	fault := errors.New("full")
	v := &visited{t: t, want: want, fault: fault}
	if err := a.Visit(t.Context(), tab, v); !errors.Is(err, fault) || v.ended || v.at != 4096 {
		t.Errorf("a visitor's fault: %v, ended: %v, rows %d", err, v.ended, v.at)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Visit(ctx, tab, &visited{t: t, want: want}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var missing *data.MissingColumnError
	if err := a.Visit(t.Context(), data.NewTable(5), &visited{t: t}); !errors.As(err, &missing) {
		t.Errorf("no column: %v", err)
	}
	for range a.All(t.Context(), tab) {
		break
	}
}
