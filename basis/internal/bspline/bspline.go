package basis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/penalty"
)

// maxK bounds the dimension of a smooth, maxDegree the degree of its splines.
const (
	maxK      = 1000
	maxDegree = 10
)

// PS is the P-spline basis (Eilers and Marx 1996; Wood 2017, 5.3.3): K B-splines
// of degree m1+1 on equispaced knots over the data range widened by 0.1 % on
// each side, and the squared m2-th differences of adjacent coefficients as
// penalty. Outside the (widened) range the function goes on as a straight line;
// with m1 = 0 it does so on both sides (mgcv 1.8 goes on as a constant on the
// right).
type PS struct {
	K int   // basis dimension, at least m1+2; 0: 10, or what Knots say
	M []int // m1, m2; one value stands for both; nil: 2, 2 (cubic, second differences)
	// Knots, nil: from the data. Two values: the range, widened in the same way.
	// K+m1+2 increasing values: all knots. The data must lie within.
	Knots []float64
}

func (s PS) label() string { return "ps" }

// settings are K, m1 and m2 with defaults filled in.
func (s PS) settings() (k, m1, m2 int, err error) {
	m1, m2 = 2, 2
	switch len(s.M) {
	case 0:
	case 1:
		m1, m2 = s.M[0], s.M[0]
	case 2:
		m1, m2 = s.M[0], s.M[1]
	default:
		return 0, 0, 0, fmt.Errorf("m has %d values: ps takes m = c(m1, m2), the splines' degree less one and the order of the differences", len(s.M))
	}
	if m1 < 0 || m1+1 > maxDegree {
		return 0, 0, 0, fmt.Errorf("m1 = %d: ps takes 0 (broken lines), 1, 2 (cubic) to %d", m1, maxDegree-1)
	}
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 2 {
			k = len(s.Knots) - m1 - 2
		}
		if n := len(s.Knots); n == 1 || n > 2 && k < m1+2 {
			return 0, 0, 0, fmt.Errorf("%d knots: ps with m1 = %d takes 2 (the range) or all k + m1 + 2 of them, %d at least", n, m1, 2*m1+4)
		}
	}
	if k < m1+2 || k > maxK {
		return 0, 0, 0, fmt.Errorf("k = %d: ps with m1 = %d takes k from %d to %d", k, m1, m1+2, maxK)
	}
	if m2 < 0 || m2 >= k {
		return 0, 0, 0, fmt.Errorf("m2 = %d: differences of %d coefficients have order 0 to %d", m2, k, k-1)
	}
	if n := len(s.Knots); n != 0 && n != 2 && n != k+m1+2 {
		return 0, 0, 0, fmt.Errorf("%d knots: ps takes 2 (the range) or k + m1 + 2 = %d", n, k+m1+2)
	}
	return k, m1, m2, increasing(s.Knots)
}

func (s PS) check() error {
	_, _, _, err := s.settings()
	return err
}

func (s PS) values(column string) values {
	k, _, _, _ := s.settings()
	return values{column: column, limit: max(k, 1), count: true}
}

func (s PS) build(v *values) (spline, *mat.SymDense, error) {
	k, m1, m2, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, m1+2); err != nil {
		return nil, nil, err
	}
	knots := s.Knots
	if len(knots) <= 2 {
		lo, hi := v.min, v.max
		if len(knots) == 2 {
			lo, hi = knots[0], knots[1]
		}
		knots = equispaced(lo, hi, k, m1)
		if increasing(knots) != nil {
			return nil, nil, fmt.Errorf("column %q: the range from %v to %v is too wide or too narrow for %d knots in 64-bit numbers: rescale the column", v.column, lo, hi, len(knots))
		}
	}
	b, err := newPSpline(m1+1, slices.Clone(knots))
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	if len(s.Knots) > 0 && (v.min < b.lo || v.max > b.hi) {
		return nil, nil, fmt.Errorf("column %q runs from %v to %v, beyond the knots, which carry splines from %.6g to %.6g: widen knots=", v.column, v.min, v.max, b.lo, b.hi)
	}
	p, err := penalty.Difference(k, m2)
	return b, p, err
}

// equispaced are the k + m1 + 2 knots of k B-splines of degree m1 + 1 over the
// range lo to hi, widened by a thousandth of its width on each side.
func equispaced(lo, hi float64, k, m1 int) []float64 {
	margin := (hi - lo) * 0.001
	lo, hi = lo-margin, hi+margin
	step := (hi - lo) / float64(k-m1-1)
	from := lo - step*float64(m1+1)
	to := hi + step*float64(m1+1)
	knots := make([]float64, k+m1+2)
	by := (to - from) / float64(len(knots)-1)
	for i := range knots {
		knots[i] = from + float64(i)*by
	}
	return knots
}

// pspline evaluates B-splines: at x in [knots[j], knots[j+1]) the degree+1
// functions j-degree..j are not 0.
type pspline struct {
	degree int
	knots  []float64 // increasing, dim + degree + 1
	lo, hi float64   // where the functions sum to 1
	scale  float64   // intervals per unit of x, for a first guess of j
	even   bool      // cubic on equispaced knots
	// For degree 3, the reciprocal widths of the supports that the recurrence
	// divides by on interval j, in its order: divisions cost more than the rest.
	widths [][6]float64
	// Values and slopes of the first and last degree+1 functions at lo and hi.
	left, leftSlope, right, rightSlope [maxDegree + 1]float64
}

func newPSpline(degree int, knots []float64) (*pspline, error) {
	if degree < 1 || degree > maxDegree {
		return nil, fmt.Errorf("splines of degree %d: 1 to %d are possible", degree, maxDegree)
	}
	n := len(knots) - degree - 1
	if n < degree+1 || n > maxK {
		return nil, fmt.Errorf("%d knots for splines of degree %d: %d to %d are possible", len(knots), degree, 2*degree+2, maxK+degree+1)
	}
	if err := increasing(knots); err != nil {
		return nil, err
	}
	p := &pspline{degree: degree, knots: knots, lo: knots[degree], hi: knots[n]}
	p.scale = float64(n-degree) / (p.hi - p.lo)
	if span := knots[len(knots)-1] - knots[0]; !finite(span) || !finite(p.scale) {
		return nil, errors.New("the knots are too wide or too close for 64-bit numbers: rescale the column")
	}
	p.even = degree == 3 && equal(knots)
	if degree == 3 {
		p.widths = make([][6]float64, n)
		for j := 3; j < n; j++ {
			t := knots[j-2 : j+4]
			p.widths[j] = [6]float64{1 / (t[3] - t[2]), 1 / (t[3] - t[1]), 1 / (t[4] - t[2]), 1 / (t[3] - t[0]), 1 / (t[4] - t[1]), 1 / (t[5] - t[2])}
		}
	}
	p.functions(p.left[:], p.lo, degree)
	p.slopes(p.leftSlope[:], p.lo, degree)
	p.functions(p.right[:], p.hi, n-1)
	p.slopes(p.rightSlope[:], p.hi, n-1)
	for l := range degree + 1 {
		if !finite(p.left[l]) || !finite(p.right[l]) || !finite(p.leftSlope[l]) || !finite(p.rightSlope[l]) {
			return nil, errors.New("the knots are too close for 64-bit numbers: rescale the column")
		}
	}
	return p, nil
}

func (p *pspline) dim() int   { return len(p.knots) - p.degree - 1 }
func (p *pspline) width() int { return p.degree + 1 }

// row writes the degree+1 values that are not 0 at x, and returns which function
// the first belongs to.
func (p *pspline) row(out []float64, x float64) int {
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
		return p.dim() - p.degree - 1
	}
	if p.even {
		one, first := [1]float64{x}, [1]int32{}
		p.band(first[:], out, one[:])
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

// band is row for many x at once: out four by four. It reports false if it cannot:
// knots of other distances, another degree, or an x that is not between lo and hi.
func (p *pspline) band(first []int32, out, x []float64) bool {
	return p.even && kernel.Splines(first, out, x, p.lo, p.hi, p.scale, p.dim()-p.degree)
}

// equal reports whether the distances of the knots are the same but for rounding.
func equal(knots []float64) bool {
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
func (p *pspline) interval(x float64) int {
	last := p.dim() - 1
	j := min(p.degree+int((x-p.lo)*p.scale), last)
	if p.knots[j] <= x && (x < p.knots[j+1] || j == last) {
		return j
	}
	n := sort.Search(last-p.degree, func(i int) bool { return x < p.knots[p.degree+1+i] })
	return p.degree + n
}

// functions evaluates the B-splines that are not 0 on interval j (de Boor's
// recurrence: from degree d-1 to d each function is handed to its neighbours in
// proportion to the distances from the knots).
func (p *pspline) functions(out []float64, x float64, j int) {
	p.upTo(out, x, j, p.degree)
}

func (p *pspline) upTo(out []float64, x float64, j, degree int) {
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
func (p *pspline) cubic(out []float64, x float64, j int) {
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
func (p *pspline) slopes(out []float64, x float64, j int) {
	var lower [maxDegree + 1]float64
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

// increasing refuses knots that are not finite and strictly increasing.
func increasing(knots []float64) error {
	for i, t := range knots {
		if !finite(t) {
			return fmt.Errorf("knot %d is %v", i+1, t)
		}
		if i > 0 && t <= knots[i-1] {
			return fmt.Errorf("knot %d (%v) is not greater than the one before (%v): knots must increase", i+1, t, knots[i-1])
		}
	}
	if n := len(knots); n > 0 && math.IsInf(knots[n-1]-knots[0], 0) {
		return errors.New("the knots are too far apart for 64-bit numbers: rescale the column")
	}
	return nil
}

// enough refuses data with fewer distinct values than k, the least k possible
// being lowest.
func enough(v *values, k, lowest int) error {
	n := len(v.distinct())
	switch {
	case v.rows == 0:
		return fmt.Errorf("no rows of column %q were scanned", v.column)
	case v.min == v.max:
		return fmt.Errorf("column %q has 1 distinct value, %v, where k = %d needs %d: leave the term out", v.column, v.min, k, k)
	case n < k && n >= lowest:
		return fmt.Errorf("column %q has %d distinct values, fewer than k = %d: set k = %d or less", v.column, n, k, n)
	case n < k:
		return fmt.Errorf("column %q has %d distinct values, fewer than k = %d (and this basis needs %d at least): use the column itself or factor(%s)", v.column, n, k, lowest, v.column)
	}
	return nil
}
