package projection

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// dominant is a term of many columns that has most columns of all, as the levels of a
// factor among smooths: concurvity with it follows from one inverse of its own
// correlations A_ff, where all columns' would be inverted, and what it leaves of the
// others, A_oo - A_of A_ff^-1 A_fo, too. The largest share that one side takes of the
// other is the same for both, so that it is read from the smaller.
type dominant struct {
	block  int
	column []int      // of the others
	at     []int      // where those of each term begin among the others; and the end
	cross  *mat.Dense // A_fo
	taken  *mat.Dense // A_of A_ff^-1 A_fo
}

// dominant is nil if there is no such term.
func (s *spans) dominant() (*dominant, error) {
	n := s.start[len(s.start)-1]
	for f, t := range s.terms {
		own := len(t.sd)
		if !t.many() || 2*own <= n || own == n {
			continue
		}
		d := &dominant{block: f}
		for j := range s.terms {
			d.at = append(d.at, len(d.column))
			if j != f {
				d.column = append(d.column, columnsFrom(s.start[j], s.start[j+1])...)
			}
		}
		d.at = append(d.at, len(d.column))
		if many, ok := s.corr.(*linalg.Structured); ok {
			d.cross = many.Block(columnsFrom(s.start[f], s.start[f+1]), d.column)
		} else {
			d.cross = mat.NewDense(own, len(d.column), nil)
			for l, c := range d.column {
				for i := range own {
					d.cross.Set(i, l, s.corr.At(s.start[f]+i, c))
				}
			}
		}
		if d.taken = s.takenByLevels(f, d.cross); d.taken != nil {
			return d, nil
		}
		whole, err := t.dense()
		if err != nil {
			return nil, err
		}
		inverse, err := ridgeInverse(whole, ridge(s.tolerance))
		if err != nil {
			return nil, err
		}
		d.taken = times(d.cross.T(), linalg.Product(linalg.Mirror(inverse), d.cross))
		return d, nil
	}
	return nil, nil
}

// of are the columns of term j among x's, which are the others'.
func (d *dominant) of(x *mat.Dense, j int) *mat.Dense {
	n, _ := x.Dims()
	return x.Slice(0, n, d.at[j], d.at[j+1]).(*mat.Dense)
}

// against is what the term takes of term j.
func (d *dominant) against(j int) *mat.SymDense {
	return symmetrised(mat.DenseCopyOf(d.taken.Slice(d.at[j], d.at[j+1], d.at[j], d.at[j+1])))
}

// againstAll is spans.againstAll.
func (d *dominant) againstAll(ctx context.Context, s *spans) ([]Concurvity, error) {
	full := make([]Concurvity, len(s.terms))
	own, left := mat.NewSymDense(len(d.column), nil), mat.NewSymDense(len(d.column), nil)
	for a, i := range d.column {
		for b := a; b < len(d.column); b++ {
			v := s.corr.At(i, d.column[b])
			own.SetSym(a, b, v)
			left.SetSym(a, b, v-(d.taken.At(a, b)+d.taken.At(b, a))/2)
		}
	}
	inverse, err := ridgeInverse(left, ridge(s.tolerance))
	if err != nil {
		return nil, err
	}
	err = each(ctx, len(s.terms), func(j int) (err error) {
		if j != d.block {
			full[j], err = s.terms[j].byInverse(inverse.SliceSym(d.at[j], d.at[j+1]).(*mat.SymDense))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	others, err := ridgeInverse(own, ridge(s.tolerance))
	if err != nil {
		return nil, err
	}
	half := times(d.cross, others)
	t := s.terms[d.block]
	full[d.block] = t.averageTaken(half, d.cross)
	if len(d.column) > manyColumns {
		full[d.block].Worst = share(1 - 1/largest(inverse, own))
	} else { // where others are combinations of each other the ridge's inverse has few digits
		full[d.block].Worst = share(largestOf(congruence(mat.DenseCopyOf(whiten(own).above(s.tolerance)), symmetrised(d.taken))))
	}
	return full, nil
}

// averageTaken is average of what others leave that take a b' of the correlations.
func (t spannable) averageTaken(a, b *mat.Dense) Concurvity {
	var m Concurvity
	v := mat.NewVecDense(len(t.theta), t.theta)
	if size := linalg.Bilinear(t.corr, t.theta, t.theta); size > 0 {
		var av, bv mat.VecDense
		av.MulVec(a.T(), v)
		bv.MulVec(b.T(), v)
		m.Observed = share(mat.Dot(&av, &bv) / size)
	}
	var taken, total float64
	for i, sd := range t.sd {
		taken += sd * sd * mat.Dot(a.RowView(i), b.RowView(i))
		total += sd * sd * t.corr.At(i, i)
	}
	if total > 0 {
		m.Estimate = share(taken / total)
	}
	return m
}

// pair is the share of the dominant term that term j explains. inverse is the inverse of term j's correlations, nil if it
// has few columns.
func (d *dominant) pair(s *spans, j int, inverse *mat.SymDense) Concurvity {
	if inverse != nil {
		own := d.of(d.cross, j)
		m := s.terms[d.block].averageTaken(times(own, inverse), own)
		m.Worst = share(largest(d.against(j), inverse))
		return m
	}
	white := mat.DenseCopyOf(s.terms[j].whitening.above(s.tolerance))
	half := times(d.of(d.cross, j), white)
	m := s.terms[d.block].averageTaken(half, half)
	m.Worst = share(largestOf(congruence(white, d.against(j))))
	return m
}

func largestOf(a *mat.SymDense) float64 {
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		return 0
	}
	values := e.Values(nil)
	return values[len(values)-1]
}
