package thinplate

import "math"

// In one variable the radial functions are c |x - p|^P, P = 2m - 1, of sorted
// points p. A sum of them over the points on one side of t is known from its
// moments about t, and those follow from the moments about the neighbour: so what
// is a sum over n points at each of n points takes n steps, not n^2. All steps are
// sums of terms of one sign but for the weights' own, so rounding is no worse than
// that of the sums themselves.

// sideMoments are sum_i w_i d_i^q/q!, q = 0..P, of the points passed, at the
// distances d_i from where the sweep stands; w_i has width values.
type sideMoments struct {
	width int
	m     []float64 // (P + 1) x width
}

func newSideMoments(terms, width int) sideMoments {
	return sideMoments{width, make([]float64, terms*width)}
}

// order is the moments of order q.
func (s sideMoments) order(q int) []float64 { return s.m[q*s.width : (q+1)*s.width] }

// pass takes in a point where the sweep stands.
func (s sideMoments) pass(w []float64) {
	for j, v := range w {
		s.m[j] += v
	}
}

// advance moves h >= 0 away from the points passed: (d + h)^q/q! is the sum over
// r of d^r/r! h^(q-r)/(q-r)!.
func (s sideMoments) advance(h float64) {
	if len(s.m) == 4*s.width {
		s.advanceCubic(h)
		return
	}
	for q := len(s.m)/s.width - 1; q > 0; q-- {
		to, g := s.order(q), 1.0
		for r := q - 1; r >= 0; r-- {
			g *= h / float64(q-r)
			from := s.order(r)[:len(to)]
			for j, v := range from {
				to[j] += g * v
			}
		}
	}
}

// advanceCubic is advance for P = 3, the usual one, in one go over the columns.
func (s sideMoments) advanceCubic(h float64) {
	h2 := h * (h / 2)
	h3 := h2 * (h / 3)
	n := s.width
	m0, m1, m2, m3 := s.m[:n], s.m[n:][:n], s.m[2*n:][:n], s.m[3*n:][:n]
	for j, a := range m0 {
		b, c := m1[j], m2[j]
		m3[j] = m3[j] + h*c + h2*b + h3*a
		m2[j] = c + h*b + h2*a
		m1[j] = b + h*a
	}
}

// sweep sets dst to E v (n x width, row by row), E the thin plate functions of
// the distances between the points of one variable.
func (b *Basis) sweep(dst, v []float64, width int) {
	n, top := len(b.points), 2*b.m-1
	c := b.constant * factorial(top)
	side := newSideMoments(top+1, width)
	clear(dst)
	add := func(i, before int) {
		side.advance(math.Abs(b.points[i] - b.points[before]))
		out := dst[i*width : (i+1)*width]
		for j, s := range side.order(top) {
			out[j] += c * s
		}
	}
	for i := 1; i < n; i++ {
		side.pass(v[(i-1)*width : i*width])
		add(i, i-1)
	}
	clear(side.m)
	for i := n - 2; i >= 0; i-- {
		side.pass(v[(i+1)*width : (i+2)*width])
		add(i, i+1)
	}
}
