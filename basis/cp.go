package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// CP is the cyclic P-spline basis: K periodic B-splines of degree m1+1 on K
// equispaced intervals of the period, and the squared m2-th differences around
// the circle as penalty (Eilers and Marx 1996; Wood 2017, 5.3.3). Other values
// are taken modulo the period.
type CP struct {
	K int   // basis dimension, at least m1+2; 0: 10, or what Knots say
	M []int // m1, m2; one value stands for both; nil: 2, 2
	// Period are the two ends that are one point; nil: the range of the data. The
	// data must lie between them.
	Period []float64
	Knots  []float64 // K+1 increasing values, the ends of the period included; nil: equispaced
}

func (s CP) label() string { return "cp" }

func (s CP) settings() (k, m1, m2 int, err error) {
	m1, m2 = 2, 2
	switch len(s.M) {
	case 0:
	case 1:
		m1, m2 = s.M[0], s.M[0]
	case 2:
		m1, m2 = s.M[0], s.M[1]
	default:
		return 0, 0, 0, fmt.Errorf("m has %d values: cp takes m = c(m1, m2), the splines' degree less one and the order of the differences", len(s.M))
	}
	if m1 < 0 || m1+1 > maxDegree {
		return 0, 0, 0, fmt.Errorf("m1 = %d: cp takes 0 (broken lines), 1, 2 (cubic) to %d", m1, maxDegree-1)
	}
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots) - 1
		}
	}
	if least := max(3, m1+2); k < least || k > maxK {
		return 0, 0, 0, fmt.Errorf("k = %d: cp with m1 = %d takes k from %d to %d", k, m1, least, maxK)
	}
	if m2 < 0 || m2 >= k {
		return 0, 0, 0, fmt.Errorf("m2 = %d: differences of %d coefficients have order 0 to %d", m2, k, k-1)
	}
	if n := len(s.Knots); n != 0 && n != k+1 {
		return 0, 0, 0, fmt.Errorf("%d knots: cp takes k + 1 = %d", n, k+1)
	}
	return k, m1, m2, checkPeriod(s.label(), s.Period, s.Knots)
}

func (s CP) check() error {
	_, _, _, err := s.settings()
	return err
}

func (s CP) values(column string) values {
	k, _, _, _ := s.settings()
	return values{column: column, limit: max(k, 1), count: true}
}

func (s CP) build(v *values) (spline, *mat.SymDense, error) {
	k, m1, m2, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, max(3, m1+2)); err != nil {
		return nil, nil, err
	}
	knots := slices.Clone(s.Knots)
	if len(knots) == 0 {
		lo, hi := v.min, v.max
		if len(s.Period) == 2 {
			lo, hi = s.Period[0], s.Period[1]
			if err := within(v, lo, hi, "period="); err != nil {
				return nil, nil, err
			}
		}
		knots = make([]float64, k+1)
		for i := range knots {
			knots[i] = lo + float64(i)*((hi-lo)/float64(k))
		}
		knots[k] = hi
	}
	if err := within(v, knots[0], knots[k], "knots="); err != nil {
		return nil, nil, err
	}
	b, err := newCyclicPSpline(m1+1, knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	return b, cyclicDifference(k, m2), nil
}

// cyclicDifference is D'D of order-th differences of k coefficients on a circle.
func cyclicDifference(k, order int) *mat.SymDense {
	c := []float64{1}
	for range order {
		next := make([]float64, len(c)+1)
		for i, v := range c {
			next[i] -= v
			next[i+1] += v
		}
		c = next
	}
	s := mat.NewDense(k, k, nil)
	for r := range k {
		for i, ci := range c {
			for j, cj := range c {
				a, b := (r+i)%k, (r+j)%k
				s.Set(a, b, s.At(a, b)+ci*cj)
			}
		}
	}
	return symmetric(s)
}

// cyclicPSpline evaluates periodic B-splines: on interval i of the period the
// degree+1 functions i, ..., i+degree, counted around the circle, are not 0.
type cyclicPSpline struct {
	knots  []float64 // k+1 over the period
	around *pspline  // the same knots, continued by degree on both sides
}

func newCyclicPSpline(degree int, knots []float64) (*cyclicPSpline, error) {
	k := len(knots) - 1
	if k < degree+1 || k > maxK-maxDegree {
		return nil, fmt.Errorf("%d knots for periodic splines of degree %d: %d to %d are possible", len(knots), degree, degree+2, maxK-maxDegree+1)
	}
	if err := increasing(knots); err != nil {
		return nil, err
	}
	if degree < 1 || degree > maxDegree {
		return nil, fmt.Errorf("splines of degree %d: 1 to %d are possible", degree, maxDegree)
	}
	period := knots[k] - knots[0]
	var all []float64
	for i := k - degree; i < k; i++ {
		all = append(all, knots[i]-period)
	}
	all = append(all, knots...)
	for i := 1; i <= degree; i++ {
		all = append(all, knots[i]+period)
	}
	p, err := newPSpline(degree, all)
	if err != nil {
		return nil, err
	}
	return &cyclicPSpline{knots: knots, around: p}, nil
}

func (c *cyclicPSpline) dim() int   { return len(c.knots) - 1 }
func (c *cyclicPSpline) width() int { return c.around.degree + 1 }

func (c *cyclicPSpline) row(out []float64, x float64) int {
	return c.around.row(out, wrap(x, c.knots[0], c.knots[len(c.knots)-1]))
}

// band is pspline.band for x within the period.
func (c *cyclicPSpline) band(first []int32, out, x []float64) bool {
	return c.around.band(first, out, x)
}
