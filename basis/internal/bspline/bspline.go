// Package bspline evaluates B-splines on the line and around a circle (de Boor 1978;
// Wood 2017, 5.3.3), and gives the penalties that belong to the periodic ones.
package bspline

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/internal/base/kernel"
)

// MaxDegree bounds the degree of the splines.
const MaxDegree = 10

// Equispaced are the k + degree + 1 knots of k B-splines over the range from lo to hi,
// widened by a thousandth of its width on each side.
func Equispaced(lo, hi float64, k, degree int) []float64 {
	margin := (hi - lo) * 0.001
	lo, hi = lo-margin, hi+margin
	step := (hi - lo) / float64(k-degree)
	from := lo - step*float64(degree)
	to := hi + step*float64(degree)
	t := make([]float64, k+degree+1)
	by := (to - from) / float64(len(t)-1)
	for i := range t {
		t[i] = from + float64(i)*by
	}
	return t
}

// Basis evaluates B-splines: at x in [knots[j], knots[j+1]) the degree+1
// functions j-degree..j are not 0.
type Basis struct {
	degree     int
	knots      []float64    // increasing, dim + degree + 1
	lo, hi     float64      // where the functions sum to 1
	scale      float64      // intervals per unit of x
	breaks     *knot.Breaks // the knots from lo to hi
	equispaced bool         // cubic, on knots of equal distances
	// For degree 3, the reciprocal widths of the supports that the recurrence
	// divides by on interval j, in its order: divisions cost more than the rest.
	widths [][6]float64
	// Values and slopes of the first and last degree+1 functions at lo and hi.
	left, leftSlope, right, rightSlope [MaxDegree + 1]float64
}

// New makes the basis of B-splines of the given degree on all their knots: dim +
// degree + 1 of them, increasing. It keeps the slice.
func New(degree int, knots []float64) (*Basis, error) {
	if degree < 1 || degree > MaxDegree {
		return nil, fmt.Errorf("splines of degree %d: 1 to %d are possible", degree, MaxDegree)
	}
	n := len(knots) - degree - 1
	if n < degree+1 || n > knot.MaxDim {
		return nil, fmt.Errorf("%d knots for splines of degree %d: %d to %d are possible", len(knots), degree, 2*degree+2, knot.MaxDim+degree+1)
	}
	if err := knot.Check(knots); err != nil {
		return nil, err
	}
	p := &Basis{degree: degree, knots: knots, lo: knots[degree], hi: knots[n]}
	p.scale = float64(n-degree) / (p.hi - p.lo)
	if span := knots[len(knots)-1] - knots[0]; !knot.Finite(span) || !knot.Finite(p.scale) {
		return nil, knot.ErrScale
	}
	p.breaks = knot.NewBreaks(knots[degree : n+1])
	p.equispaced = degree == 3 && equispaced(knots)
	if degree == 3 {
		p.widths = reciprocalWidths(knots)
	}
	return p, p.tangents()
}

// reciprocalWidths are 1 over the widths that cubic divides by, for each interval.
func reciprocalWidths(knots []float64) [][6]float64 {
	n := len(knots) - 4
	w := make([][6]float64, n)
	for j := 3; j < n; j++ {
		t := knots[j-2 : j+4]
		w[j] = [6]float64{1 / (t[3] - t[2]), 1 / (t[3] - t[1]), 1 / (t[4] - t[2]), 1 / (t[3] - t[0]), 1 / (t[4] - t[1]), 1 / (t[5] - t[2])}
	}
	return w
}

// tangents finds values and slopes at both ends, from which the lines beyond begin.
func (p *Basis) tangents() error {
	last := p.Dim() - 1
	p.functions(p.left[:], p.lo, p.degree)
	p.slopes(p.leftSlope[:], p.lo, p.degree)
	p.functions(p.right[:], p.hi, last)
	p.slopes(p.rightSlope[:], p.hi, last)
	for l := range p.degree + 1 {
		if !knot.Finite(p.left[l]) || !knot.Finite(p.right[l]) || !knot.Finite(p.leftSlope[l]) || !knot.Finite(p.rightSlope[l]) {
			return errors.New("the knots are too close for 64-bit numbers: rescale the column")
		}
	}
	return nil
}

// Dim is the number of functions.
func (p *Basis) Dim() int { return len(p.knots) - p.degree - 1 }

// Width is how many functions are not 0 at any x.
func (p *Basis) Width() int { return p.degree + 1 }

// Degree is that of the polynomials between the knots.
func (p *Basis) Degree() int { return p.degree }

// Knots are all knots, in the basis' own memory.
func (p *Basis) Knots() []float64 { return p.knots }

// Range is where the functions sum to 1; beyond it they go on as straight lines.
func (p *Basis) Range() (lo, hi float64) { return p.lo, p.hi }

// Breaks are the ends of the range and the knots between: from one to the next the
// functions are polynomials.
func (p *Basis) Breaks() []float64 {
	breaks := []float64{p.lo}
	for _, k := range p.knots {
		if k > p.lo && k < p.hi {
			breaks = append(breaks, k)
		}
	}
	return append(breaks, p.hi)
}

// Row writes the degree+1 values that can be other than 0 at a finite x to out, and
// returns which function the first belongs to.
func (p *Basis) Row(out []float64, x float64) int {
	switch {
	case x < p.lo:
		for l := range p.degree + 1 {
			out[l] = p.left[l] + (x-p.lo)*p.leftSlope[l]
		}
		return 0
	case x > p.hi:
		for l := range p.degree + 1 {
			out[l] = p.right[l] + (x-p.hi)*p.rightSlope[l]
		}
		return p.Dim() - p.degree - 1
	}
	if p.equispaced {
		one, first := [1]float64{x}, [1]int32{}
		p.Band(first[:], out, one[:])
		return int(first[0])
	}
	j := p.interval(x)
	if p.degree == 3 {
		p.cubic(out, x, j)
	} else {
		p.functions(out, x, j)
	}
	return j - p.degree
}

// Band is Row for many x at once: four values each in out, the first function of each
// in first. It reports false, with out undefined, if the degree is not 3, the knots are
// not equispaced or an x is out of range: then Row does each.
func (p *Basis) Band(first []int32, out, x []float64) bool {
	return p.equispaced && kernel.Splines(first, out, x, p.lo, p.hi, p.scale, p.Dim()-p.degree)
}

// equispaced reports whether the distances of the knots are the same but for rounding.
func equispaced(knots []float64) bool {
	n := len(knots) - 1
	step := (knots[n] - knots[0]) / float64(n)
	for i, t := range knots {
		if math.Abs(t-(knots[0]+float64(i)*step)) > min(1e-14*max(math.Abs(knots[0]), math.Abs(knots[n])), 1e-9*step) {
			return false
		}
	}
	return true
}

// interval finds j with knots[j] <= x < knots[j+1] for lo <= x <= hi; hi itself
// belongs to the last interval.
func (p *Basis) interval(x float64) int {
	return p.degree + p.breaks.Interval(x)
}

// functions evaluates the B-splines that are not 0 on interval j (de Boor's
// recurrence: from degree d-1 to d each function is handed to its neighbours in
// proportion to the distances from the knots).
func (p *Basis) functions(out []float64, x float64, j int) {
	p.upTo(out, x, j, p.degree)
}

func (p *Basis) upTo(out []float64, x float64, j, degree int) {
	t := p.knots
	out[0] = 1
	for d := 1; d <= degree; d++ {
		carried := 0.0
		for l := range d {
			below, above := t[j+1-d+l], t[j+1+l]
			share := out[l] / (above - below)
			out[l] = carried + (above-x)*share
			carried = (x - below) * share
		}
		out[d] = carried
	}
}

// cubic is functions for degree 3 on interval j, unrolled.
func (p *Basis) cubic(out []float64, x float64, j int) {
	t, w := p.knots[j-2:j+4:j+4], &p.widths[j]
	out = out[:4:4]
	l1, l2, l3 := x-t[2], x-t[1], x-t[0]
	r1, r2, r3 := t[3]-x, t[4]-x, t[5]-x
	a0, a1 := r1*w[0], l1*w[0]
	a0, a1 = a0*w[1], a1*w[2]
	b0, b1, b2 := r1*a0*w[3], (l2*a0+r2*a1)*w[4], l1*a1*w[5]
	out[0] = r1 * b0
	out[1] = l3*b0 + r2*b1
	out[2] = l2*b1 + r3*b2
	out[3] = l1 * b2
}

// slopes evaluates the first derivatives of the functions on interval j: the
// degree times the differences of the B-splines of one degree less, each over
// the width of its support.
func (p *Basis) slopes(out []float64, x float64, j int) {
	var lower [MaxDegree + 1]float64
	d := p.degree
	p.upTo(lower[:], x, j, d-1)
	before := 0.0
	for l := range d {
		s := float64(d) * lower[l] / (p.knots[j+1+l] - p.knots[j+1-d+l])
		out[l] = before - s
		before = s
	}
	out[d] = before
}
