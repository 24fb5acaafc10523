package decompose

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// measure finds in a pass over the rows what products of single networks do not tell of
// their mean: variances, and how far its terms lie apart.
func (p *plan) measure(ctx context.Context, m *Members, src data.Source, r *Result, total *moments.Moments, o *Options, cache *outputCache) error {
	terms, columns := r.layout()
	workers := make([]*forward, o.workers())
	sums := newCurveSums(r)
	err := pass(ctx, p, m, src, o,
		func(w int, at place, b *data.Batch) (*curveSums, error) {
			stored, err := cache.load(at.nth, b.Rows())
			if err != nil {
				return nil, err
			}
			if workers[w] == nil {
				workers[w] = newForward(m, terms)
			}
			s := newCurveSums(r)
			for i := 0; i < b.Rows(); i += evalRows {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				rows := workers[w].cut(b, i, min(i+evalRows, b.Rows()))
				out, err := workers[w].at(ctx, rows, stored, nil, i)
				if err != nil {
					return nil, err
				}
				x, err := workers[w].eval.eval(rows)
				if err != nil {
					return nil, err
				}
				weights, err := weights(rows, o.Weights)
				if err != nil {
					return nil, err
				}
				for k := range r.Predictors {
					if err := s.add(r, k, columns[k], x, weights, out.Zeta, total.MeanR[k]); err != nil {
						return nil, err
					}
				}
			}
			return s, nil
		},
		func(s *curveSums, _ place, _ *data.Batch) error {
			sums.merge(s)
			return nil
		})
	if err != nil {
		return err
	}
	sums.finish(r, total.SumW)
	return nil
}

// curveSums are weighted sums of squares over rows, by predictor: of each term its values
// before, after and moved, and the squared distances of the networks' curves before and
// after; then the structured and the deep part, and their product, before and after.
type curveSums struct {
	terms [][][5]float64
	parts [][6]float64
}

func newCurveSums(r *Result) *curveSums {
	s := &curveSums{parts: make([][6]float64, len(r.Predictors))}
	for _, d := range r.Predictors {
		s.terms = append(s.terms, make([][5]float64, len(d.Terms)))
	}
	return s
}

// add adds rows of predictor k: at are its terms' places among the columns x.
func (s *curveSums) add(r *Result, k int, at []int, x []design.Columns, weights []float64, zeta *mat.Dense, meanZeta float64) error {
	d := &r.Predictors[k]
	n, _ := zeta.Dims()
	structuredBefore, structured := make([]float64, n), make([]float64, n)
	before, after := make([]float64, n*len(d.Members)), make([]float64, n*len(d.Members))
	for j := range d.Terms {
		t := &d.Terms[j]
		columns := mat.NewDense(n, len(t.Alpha), nil)
		if err := design.ToDense(columns, x[at[j]]); err != nil {
			return err
		}
		for i := range n {
			row := columns.RawRowView(i)
			b, a := before[i*len(d.Members):][:len(d.Members)], after[i*len(d.Members):][:len(d.Members)]
			for l := range t.Members {
				own := &t.Members[l]
				b[l] = floats.Dot(row[own.At:][:len(own.Beta)], own.Beta) - own.Before.Mean
				a[l] = b[l] + floats.Dot(row[own.At:][:len(own.Alpha)], own.Alpha) - own.Moved.Mean
			}
			w := weight(weights, i)
			meanB, apartB := centre(b)
			meanA, apartA := centre(a)
			for q, v := range [5]float64{meanB * meanB, meanA * meanA, (meanA - meanB) * (meanA - meanB), apartB, apartA} {
				s.terms[k][j][q] += w * v
			}
			structuredBefore[i] += meanB
			structured[i] += meanA
		}
	}
	for i := range n {
		w, deep := weight(weights, i), zeta.At(i, k)-meanZeta
		left := deep - (structured[i] - structuredBefore[i])
		for q, v := range [6]float64{structuredBefore[i] * structuredBefore[i], deep * deep, structuredBefore[i] * deep,
			structured[i] * structured[i], left * left, structured[i] * left} {
			s.parts[k][q] += w * v
		}
	}
	return nil
}

// centre is the mean of v and the sum of squares about it.
func centre(v []float64) (mean, squares float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return mean, squares
}

func (s *curveSums) merge(o *curveSums) {
	for k := range s.terms {
		for j := range s.terms[k] {
			for q, v := range o.terms[k][j] {
				s.terms[k][j][q] += v
			}
		}
		for q, v := range o.parts[k] {
			s.parts[k][q] += v
		}
	}
}

// finish writes the variances into r.
func (s *curveSums) finish(r *Result, sumW float64) {
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for j := range d.Terms {
			t, q := &d.Terms[j], s.terms[k][j]
			t.Before.Variance, t.After.Variance, t.Moved.Variance = q[0]/sumW, q[1]/sumW, q[2]/sumW
			apart := sumW * float64(len(t.Members)-1)
			t.BetweenSD = &BetweenSD{math.Sqrt(q[3] / apart), math.Sqrt(q[4] / apart)}
		}
		q := s.parts[k]
		d.VarianceBefore, d.Variance = splitVariance(q[0]/sumW, q[1]/sumW, q[2]/sumW), splitVariance(q[3]/sumW, q[4]/sumW, q[5]/sumW)
	}
}

// splitVariance is that of a sum of two parts with these variances and covariance.
func splitVariance(structured, unstructured, covariance float64) Variance {
	return Variance{structured, unstructured, 2 * covariance, structured + unstructured + 2*covariance}
}
