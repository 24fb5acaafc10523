package interaction

import (
	"slices"
	"sync"

	"github.com/pho-go/pho/internal/base/kernel"
)

// kept is a sample of the rows, by small hashes of their numbers, in order. So much is copied of
// them that pairs are told apart without another pass over all.
type kept struct {
	values
	w []float64   // nil: all are 1
	r [][]float64 // remainders by predictor
}

// keptOf copies the rows listed.
func keptOf(scales []*scale, list []int32, v *values, w []float64, r [][]float64) *kept {
	s := &kept{values: values{numbers: make([][]float64, len(scales)), codes: make([][]uint8, len(scales))}, r: make([][]float64, len(r))}
	for j, c := range scales {
		if c.factor {
			s.codes[j] = picked(v.codes[j], list)
		} else {
			s.numbers[j] = picked(v.numbers[j], list)
		}
	}
	if w != nil {
		s.w = picked(w, list)
	}
	for k := range r {
		s.r[k] = picked(r[k], list)
	}
	return s
}

// picked is a copy of the listed elements.
func picked[E any](from []E, list []int32) []E {
	out := make([]E, len(list))
	for l, i := range list {
		out[l] = from[i]
	}
	return out
}

func (s *kept) rows() int { return len(s.r[0]) }

// add adds rows that follow.
func (s *kept) add(o *kept) {
	for j := range s.numbers {
		s.numbers[j], s.codes[j] = append(s.numbers[j], o.numbers[j]...), append(s.codes[j], o.codes[j]...)
	}
	s.w = append(s.w, o.w...)
	for k := range s.r {
		s.r[k] = append(s.r[k], o.r[k]...)
	}
}

// keptShape is what rows that add up have in common.
type keptShape struct {
	factors    []bool // by column
	predictors int
	weighted   bool
}

func (s *kept) shape() keptShape {
	k := keptShape{predictors: len(s.r), weighted: s.w != nil}
	for _, codes := range s.codes {
		k.factors = append(k.factors, codes != nil)
	}
	return k
}

func (a keptShape) equal(b keptShape) bool {
	return a.predictors == b.predictors && a.weighted == b.weighted && slices.Equal(a.factors, b.factors)
}

// bin sets the bins of numbers, after which s is no longer added to.
func (s *kept) bin(scales []*scale) {
	for j, c := range scales {
		if !c.factor {
			s.codes[j] = make([]uint8, s.rows())
			c.cutCodes(s.codes[j], s.numbers[j])
		}
	}
}

// products are those of predictor k, of which e is noise, its squares times the inflation. Two goroutines take a half of the rows
// each; what they form of them serves both matrices.
func (s *kept) products(f *functions, k int, e []float64, inflation float64) *products {
	parts := f.parts(f.complete(&s.values))
	half := (s.rows()/2 + blockRows - 1) / blockRows * blockRows
	part := func(first, next int) *summing {
		all := f.summing(parts.summed)
		all.rows(&s.values, s.w, s.r[k], e, inflation, first, next)
		return all
	}
	var rest *summing
	var running sync.WaitGroup
	running.Go(func() { rest = part(min(half, s.rows()), s.rows()) })
	all := part(0, min(half, s.rows()))
	running.Wait()
	all.add(rest.packed)
	p := all.products()
	for _, d := range parts.derived {
		d.write(p.gram, p.sandwich)
	}
	for _, matrix := range [][]float64{p.gram, p.sandwich} {
		for _, e := range parts.echoes {
			f.copy(matrix, p.n, e)
		}
		kernel.AddGram(matrix, p.n, nil, p.n, p.n, 0, nil) // the lower triangle
	}
	return p
}
