package basis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// CC is the cyclic cubic regression spline basis (Wood 2017, 5.3.2): a cubic
// spline through its values at K knots, whose first and last are one point, so
// that value, slope and curvature agree there; K - 1 columns. Other values are
// taken modulo the period.
type CC struct {
	K int // number of knots, at least 4; 0: 10, or the number of Knots
	// Period are the two ends that are one point; nil: the range of the data. The
	// data must lie between them.
	Period []float64
	Knots  []float64 // K increasing values, the ends of the period included; nil: quantiles
}

func (s CC) label() string { return "cc" }

// valued: the coefficients are the function's values.
func (s CC) valued() bool { return true }

func (s CC) settings() (k int, err error) {
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots)
		}
	}
	if k < 4 || k > maxK {
		return 0, fmt.Errorf("k = %d: cc takes k from 4 to %d", k, maxK)
	}
	if n := len(s.Knots); n != 0 && n != k {
		return 0, fmt.Errorf("%d knots: cc takes as many as k, %d", n, k)
	}
	return k, checkPeriod(s.label(), s.Period, s.Knots)
}

func (s CC) check() error {
	_, err := s.settings()
	return err
}

func (s CC) values(column string) values { return values{column: column, limit: maxValues} }

func (s CC) build(v *values) (spline, *mat.SymDense, error) {
	k, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, 4); err != nil {
		return nil, nil, err
	}
	knots := slices.Clone(s.Knots)
	if len(knots) == 0 {
		with := *v
		if len(s.Period) == 2 {
			if err := within(v, s.Period[0], s.Period[1], "period="); err != nil {
				return nil, nil, err
			}
			with.kept = slices.Clone(v.distinct())
			with.pending = nil
			with.min, with.max = s.Period[0], s.Period[1]
		}
		knots = with.quantiles(k)
	}
	if err := within(v, knots[0], knots[k-1], "knots="); err != nil {
		return nil, nil, err
	}
	b, err := newCyclic(knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	return b, b.penalty(), nil
}

// checkPeriod refuses a period that is none.
func checkPeriod(label string, period, knots []float64) error {
	switch {
	case len(period) != 0 && len(period) != 2:
		return fmt.Errorf("period has %d values: it is the two ends that are one point, as in period = c(0, 24)", len(period))
	case len(period) == 2 && !(finite(period[0]) && finite(period[1]) && period[0] < period[1]):
		return fmt.Errorf("period = c(%v, %v): its two ends must increase", period[0], period[1])
	case len(period) == 2 && len(knots) > 0:
		return fmt.Errorf("both period and knots are given: the first and last of the knots of %s are the period", label)
	}
	return increasing(knots)
}

// around are the period and the knots of a cyclic basis: two knots are the
// period, as in mgcv.
func (a *smoothArgs) around() (period, knots []float64) {
	if len(a.knots) == 2 && len(a.period) == 0 {
		return a.knots, nil
	}
	return a.period, a.knots
}

// within refuses data beyond lo and hi, which the argument named says.
func within(v *values, lo, hi float64, argument string) error {
	if v.min < lo || v.max > hi {
		return fmt.Errorf("column %q runs from %v to %v, beyond %v to %v: widen %s", v.column, v.min, v.max, lo, hi, argument)
	}
	return nil
}

// cyclic evaluates a cyclic cubic spline from its values at all knots but the
// last: with delta = F a its second derivatives there.
type cyclic struct {
	knots []float64
	f     *mat.Dense // (k-1) x (k-1)
	d     *mat.Dense // the differences D of F = B^-1 D
	scale float64    // intervals per unit of x
}

func newCyclic(knots []float64) (*cyclic, error) {
	n := len(knots) - 1
	if n < 3 || n >= maxK {
		return nil, fmt.Errorf("%d knots: a cc basis has 4 to %d", len(knots), maxK)
	}
	if err := increasing(knots); err != nil {
		return nil, err
	}
	b, d := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	add := func(m *mat.Dense, i, j int, v float64) { m.Set(i, j, m.At(i, j)+v) }
	for i := range n { // knot i between intervals before and i
		before, after := (i+n-1)%n, (i+1)%n
		h, next := knots[before+1]-knots[before], knots[i+1]-knots[i]
		add(b, i, i, (h+next)/3)
		add(b, i, before, h/6)
		add(b, i, after, next/6)
		add(d, i, i, -1/h-1/next)
		add(d, i, before, 1/h)
		add(d, i, after, 1/next)
	}
	c := &cyclic{knots: knots, f: new(mat.Dense), d: d, scale: float64(n) / (knots[n] - knots[0])}
	if err := c.f.Solve(b, d); err != nil {
		var near mat.Condition
		if !errors.As(err, &near) || math.IsInf(float64(near), 0) {
			return nil, errors.New("the knots are too wide or too close for 64-bit numbers: rescale the column")
		}
	}
	for _, v := range c.f.RawMatrix().Data {
		if !finite(v) {
			return nil, errors.New("the knots are too wide or too close for 64-bit numbers: rescale the column")
		}
	}
	return c, nil
}

// penalty is D'B^-1 D = D'F, the integral of the squared second derivative.
func (c *cyclic) penalty() *mat.SymDense {
	var s mat.Dense
	s.Mul(c.d.T(), c.f)
	return symmetric(&s)
}

// symmetric is the mean of a square matrix and its transpose.
func symmetric(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

func (c *cyclic) dim() int   { return len(c.knots) - 1 }
func (c *cyclic) width() int { return len(c.knots) - 1 }

// wrap takes x into the period from lo to hi.
func wrap(x, lo, hi float64) float64 {
	if x >= lo && x <= hi {
		return x
	}
	d := math.Mod(x-lo, hi-lo)
	if d < 0 {
		d += hi - lo
	}
	return min(lo+d, hi)
}

// row writes all k-1 values at x (Wood 2017, 5.3.2).
func (c *cyclic) row(out []float64, x float64) int {
	t, n := c.knots, len(c.knots)-1
	x = wrap(x, t[0], t[n])
	j := c.interval(x)
	next := j + 1
	if next == n {
		next = 0
	}
	h, below, above := t[j+1]-t[j], x-t[j], t[j+1]-x
	lower := above * (above*above/h - h) / 6
	upper := below * (below*below/h - h) / 6
	f0, f1 := c.f.RawRowView(j), c.f.RawRowView(next)
	out, f0, f1 = out[:n], f0[:n], f1[:n]
	for l := range out {
		out[l] = lower*f0[l] + upper*f1[l]
	}
	out[j] += above / h
	out[next] += below / h
	return 0
}

// interval finds j with knots[j] <= x < knots[j+1] for x within the period, of which
// the end belongs to the last: near where it would be on equispaced knots, or by
// halves.
func (c *cyclic) interval(x float64) int {
	t, n := c.knots, len(c.knots)-1
	j := min(max(int((x-t[0])*c.scale), 0), n-1)
	for range 2 {
		switch {
		case j > 0 && x < t[j]:
			j--
		case j < n-1 && x >= t[j+1]:
			j++
		default:
			return j
		}
	}
	return sort.Search(n-1, func(i int) bool { return x < t[i+1] })
}
