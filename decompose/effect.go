package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
)

// Effect is a centred curve at the rows of a grid, one value per row: Before with the
// network's own coefficients, After with what PHO moved, and SE, the standard error of
// After for the given network (Result.Bands says of which kind). The target is the curve of
// the projection over a population less its mean over the training rows. SE is NaN where
// the curve is not identified or no covariance is at hand. With hierarchical terms each of
// the three is split in the same way: Before is the network's own part without what of it
// belongs to margins, not its term as it stands in the network.
type Effect struct {
	Before, After, SE []float64
	// Simultaneous are half widths round After of a band that holds the curve at all rows
	// with probability 0.95; nil unless asked for (SimultaneousEffect), else NaN with SE.
	Simultaneous []float64
	// Networks are the curves of several networks, of which Before and After are the
	// means; nil: there is one.
	Networks *NetworkEffects
}

// Effect evaluates term j of predictor k at the rows of b, which must have the
// columns of the model (the term depends on its own features only).
func (a *Applier) Effect(ctx context.Context, k, j int, b *data.Batch) (*Effect, error) {
	return a.SumEffect(ctx, k, []int{j}, b)
}

// SumEffect is Effect for the sum of several terms. The sum of terms that are
// entangled with each other only is identified, though none of them is.
func (a *Applier) SumEffect(ctx context.Context, k int, terms []int, b *data.Batch) (*Effect, error) {
	e, _, _, err := a.sumEffect(ctx, k, terms, b)
	return e, err
}

// SimultaneousEffect is SumEffect with Effect.Simultaneous, found by simulation: equal
// seeds give equal bands. The rows of b are the grid over which the band is simultaneous.
func (a *Applier) SimultaneousEffect(ctx context.Context, k int, terms []int, b *data.Batch, seed uint64) (*Effect, error) {
	e, x, u, err := a.sumEffect(ctx, k, terms, b)
	if err == nil && x != nil {
		e.Simultaneous, err = u.simultaneousAt(x, a.result.BandDF(), seed)
	}
	return e, err
}

// sumEffect gives the terms' columns, those of the margins they give to among them, and
// the uncertainty of their coefficients, too; nil if there is no row.
func (a *Applier) sumEffect(ctx context.Context, k int, terms []int, b *data.Batch) (*Effect, []design.Columns, *uncertainty, error) {
	d := &a.result.Predictors[k]
	n := b.Rows()
	e := &Effect{Before: make([]float64, n), After: make([]float64, n), SE: make([]float64, n)}
	if n == 0 {
		return e, nil, nil, nil
	}
	columns, unseen := a.columnsOf(ctx, d, b.Slice(0, n))
	var all []design.Columns // of the pieces, one after the other
	for _, p := range d.pieces(terms) {
		x, err := columns(p.term)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := p.addTo(e.Before, e.After, x); err != nil {
			return nil, nil, nil, err
		}
		all = append(all, x)
	}
	if len(d.Members) > 0 {
		e.Networks = newNetworkEffects(len(d.Members), n)
	}
	for m := range d.Members {
		for _, p := range d.network(m).pieces(terms) {
			x, err := columns(p.term)
			if err != nil {
				return nil, nil, nil, err
			}
			if err := p.addTo(e.Networks.Before[m], e.Networks.After[m], x); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	e.Networks.spread()
	u, err := d.uncertainty(terms...)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := u.standardErrorsAt(e.SE, all); err != nil {
		return nil, nil, nil, err
	}
	for _, p := range d.pieces(terms) {
		for i, is := range unseen.rows(d.Terms[p.term].term) {
			if is {
				e.Before[i], e.After[i], e.SE[i] = math.NaN(), math.NaN(), math.NaN()
			}
		}
	}
	return e, all, u, nil
}

// addTo adds the piece at rows with its columns x.
func (p piece) addTo(before, after []float64, x design.Columns) error {
	own, moved := make([]float64, len(before)), make([]float64, len(before))
	if dense, ok := x.(design.Dense); ok {
		for i := range before {
			own[i], moved[i] = floats.Dot(dense.RawRowView(i), p.before), floats.Dot(dense.RawRowView(i), p.moved)
		}
	} else if err := errors.Join(design.MulVec(own, x, p.before), design.MulVec(moved, x, p.moved)); err != nil {
		return err
	}
	for i := range before {
		before[i] += own[i] - p.centreBefore
		after[i] += own[i] + moved[i] - p.centre
	}
	return nil
}

// columnsOf gives the columns of terms of d at the rows, each evaluated once, many ones sparse where they are; unseen knows the rows
// at which a term has none.
func (a *Applier) columnsOf(ctx context.Context, d *Predictor, rows *data.Batch) (columns func(term int) (design.Columns, error), unseen *unseenTerms) {
	n, made, ran := rows.Rows(), map[int]design.Columns{}, false
	if a.unseen != nil {
		unseen = newUnseenTerms(a.unseen)
	}
	return func(j int) (design.Columns, error) {
		t := &d.Terms[j]
		if x := made[j]; x != nil {
			return x, nil
		}
		if t.Kind == Learned && !ran {
			f := newForward(a.model, a.terms)
			if _, err := f.run(ctx, rows, f.outputs(n), 0); err != nil {
				return nil, err
			}
			ran = true
		}
		var x design.Columns
		eval := func(b *data.Batch) (err error) {
			if sparse, ok := t.term.(SparseTerm); ok && t.term.Dim() >= manyColumns && t.Kind != Learned {
				x, err = sparse.EvalSparse(b)
				return err
			}
			dense := mat.NewDense(n, t.term.Dim(), nil)
			x = design.Dense{Dense: dense}
			return t.term.Eval(dense, b)
		}
		err := eval(rows)
		if err != nil {
			err = unseen.again(t.term, rows, err, eval)
		}
		if err != nil {
			return nil, fmt.Errorf("decompose: effect of %q: %w", t.Name, err)
		}
		made[j] = x
		return x, nil
	}, unseen
}
