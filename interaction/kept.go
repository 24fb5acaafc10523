package interaction

import (
	"runtime"
	"slices"
	"sync"
)

// kept is a sample of the rows: those whose numbers have small hashes, in order. So much is
// copied of them that pairs are told apart without another pass over all.
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

// shares is how many parts the rows' products are formed in: their number says how they
// are rounded, so it is not that of the processors.
const shares = 4

// products are those of predictor k, of which e is noise.
func (s *kept) products(f *functions, k int, e []float64) *products {
	var parts [shares]*products
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	blocks := (s.rows() + blockRows - 1) / blockRows
	for i := range parts {
		first, next := blocks*i/shares*blockRows, min(blocks*(i+1)/shares*blockRows, s.rows())
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			p := newProducts(f.width())
			p.rows(f, &s.values, s.w, s.r[k], e, first, next)
			parts[i] = p
		})
	}
	running.Wait()
	for _, p := range parts[1:] {
		parts[0].add(p)
	}
	return parts[0]
}
