package interaction

import (
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
)

// leaves is r less what the fit explains of it.
func (f *fit) leaves(v *values, r []float64) []float64 {
	out, work := make([]float64, len(r)), f.work()
	for i := 0; i < len(r); i += blockRows {
		work.leaves(out[i:min(i+blockRows, len(r))], v, r, i)
	}
	return out
}

// fitWork evaluates a fit for blocks of rows, a function after the other, so that each
// step is one of vectors. Polynomials are monic there, which takes two steps for each:
//
//	q_d+1(t) = t q_d(t) - d^2/(4d^2 - 1) q_d-1(t),  P_d = leading_d q_d
type fitWork struct {
	*fit
	leading   []float64   // of the Legendre polynomials of degrees 0, 1, ...
	each      [][]float64 // functions of all scales at the rows: see functions.offsets
	ones      []float64
	rank, sum []float64
	next      []int // pairs by their first column: the next one, -1: none
	head      []int // of each column
}

func (f *fit) work() *fitWork {
	fn := f.functions
	w := &fitWork{fit: f, leading: []float64{1}, each: make([][]float64, fn.offsets[len(fn.scales)]),
		ones: make([]float64, blockRows), rank: make([]float64, blockRows), sum: make([]float64, blockRows),
		next: make([]int, len(fn.pairs)), head: make([]int, len(fn.scales))}
	for d := range max(fn.degree, degrees) {
		w.leading = append(w.leading, w.leading[d]*float64(2*d+1)/float64(d+1))
	}
	memory := make([]float64, len(w.each)*blockRows)
	for i := range w.each {
		w.each[i] = memory[i*blockRows:][:blockRows]
	}
	for i := range w.ones {
		w.ones[i] = 1
	}
	for j := range w.head {
		w.head[j] = -1
	}
	for i := len(fn.pairs) - 1; i >= 0; i-- {
		a := fn.pairs[i][0]
		w.next[i], w.head[a] = w.head[a], i
	}
	return w
}

// leaves sets dst to what the fit leaves of r at the rows from first on.
func (w *fitWork) leaves(dst []float64, v *values, r []float64, first int) {
	n, fn := len(dst), w.functions
	copy(dst, r[first:first+n])
	for j := range fn.scales {
		if fn.needed[j] {
			w.evaluate(j, v, first, n)
		}
	}
	kernel.Axpy(dst, w.ones[:n], -w.coef[0])
	at := 1
	for _, j := range fn.of {
		c := fn.scales[j]
		for d, e := range w.functionsOf(j) {
			kernel.Axpy(dst, e[:n], -w.coef[at+d]*w.scaleOf(j, d))
		}
		at += len(w.functionsOf(j))
		if c.withMissing {
			for i := range dst {
				if c.isMissing(v.numbers[j], v.codes[j], first+i) {
					dst[i] -= w.coef[at]
				}
			}
			at++
		}
	}
	for j := range fn.scales {
		if w.head[j] >= 0 {
			w.pairsOf(dst, j)
		}
	}
}

// functionsOf are those of column j.
func (w *fitWork) functionsOf(j int) [][]float64 {
	return w.each[w.functions.offsets[j]:w.functions.offsets[j+1]]
}

// scaleOf makes a Legendre polynomial of function d of column j.
func (w *fitWork) scaleOf(j, d int) float64 {
	if w.functions.scales[j].factor {
		return 1
	}
	return w.leading[d+1]
}

// pairsOf takes the pairs from dst whose first column is j: for each of its functions the
// sum over those of the other columns, times it.
func (w *fitWork) pairsOf(dst []float64, j int) {
	n, fn := len(dst), w.functions
	sum := w.sum[:n]
	for d, e := range w.functionsOf(j)[:fn.scales[j].width(degrees)] {
		clear(sum)
		for i := w.head[j]; i >= 0; i = w.next[i] {
			b := fn.pairs[i][1]
			width := fn.scales[b].width(degrees)
			coef := w.coef[fn.begins[i]+d*width:][:width]
			for l, c := range coef {
				kernel.Axpy(sum, w.functionsOf(b)[l][:n], c*w.scaleOf(b, l))
			}
		}
		kernel.Mul(sum, sum, e[:n])
		kernel.Axpy(dst, sum, -w.scaleOf(j, d))
	}
}

// evaluate sets the functions of column j at n rows; 0 where the value is missing.
func (w *fitWork) evaluate(j int, v *values, first, n int) {
	c, all := w.functions.scales[j], w.functionsOf(j)
	if c.factor {
		for d, e := range all {
			for i, bin := range v.codes[j][first : first+n] {
				e[i] = 0
				if int(bin) == d+1 {
					e[i] = 1
				}
			}
		}
		return
	}
	missing := c.ranks(w.rank[:n], v.numbers[j][first:first+n])
	below, now, t := w.ones[:n], w.rank[:n], w.rank[:n]
	for d, e := range all {
		if d == 0 {
			copy(e, t)
		} else {
			k := float64(d * d)
			kernel.Mul(e[:n], t, now)
			kernel.Axpy(e[:n], below, -k/(4*k-1))
			below = now
		}
		now = e[:n]
	}
	if !missing {
		return
	}
	for i, x := range v.numbers[j][first : first+n] {
		if math.IsNaN(x) {
			for _, e := range all {
				e[i] = 0
			}
		}
	}
}

// ranks sets dst to the ranks of x, taken to [-1,1], and tells whether some are missing,
// which have 0.
func (c *scale) ranks(dst, x []float64) (missing bool) {
	for i, v := range x {
		if v != v {
			dst[i], missing = 0, true
			continue
		}
		dst[i] = 2*c.ranked(v) - 1
	}
	return missing
}
