package moments

import "slices"

// No row has two columns of a basis of codes. So their products about the means m are -W m_i m_j off
// the diagonal, W being the sum of weights, and need neither be added up nor kept: open bases
// have them to be filled in. They are told by these numbers, not by how they came about, so that
// sums read from files merge to the same bits.

// filled is m with all products: itself if it has them.
func (m *Moments) filled() *Moments {
	if !slices.Contains(m.open, true) {
		return m
	}
	m = m.Clone()
	m.fill()
	return m
}

// fill writes the products that are to be filled in.
func (m *Moments) fill() {
	xx := m.XX.RawSymmetric()
	for _, q := range m.pairs {
		if q.a != q.b || !m.open[q.a] {
			continue
		}
		m.open[q.a], m.known[q.a] = false, true
		for i := q.offA; i < q.offA+q.dimA; i++ {
			s := m.SumW * m.Mean[i]
			row, mean := xx.Data[i*xx.Stride:][i+1:q.offA+q.dimA], m.Mean[i+1:q.offA+q.dimA]
			for l, v := range mean {
				row[l] = 0 - s*v
			}
		}
	}
}

// apart tells whether the products of basis q off the diagonal are those of codes.
func (m *Moments) apart(q pair) bool {
	if m.open[q.a] || m.known[q.a] {
		return true
	}
	xx := m.XX.RawSymmetric()
	for i := q.offA; i < q.offA+q.dimA; i++ {
		s := m.SumW * m.Mean[i]
		row, mean := xx.Data[i*xx.Stride:][i+1:q.offA+q.dimA], m.Mean[i+1:q.offA+q.dimA]
		for l, v := range mean {
			if row[l] != 0-s*v {
				return false
			}
		}
	}
	return true
}

// opened opens the bases of m that are apart in m and next, and fills in the others. It returns next
// with what m needs of it. m's numbers are about to change.
func (m *Moments) opened(next *Moments) *Moments {
	both := make([]bool, len(m.open))
	some := false
	for _, q := range m.pairs {
		if q.a == q.b && q.dimA > 1 {
			both[q.a] = m.apart(q) && next.apart(q)
			some = some || next.open[q.a] && !both[q.a]
		}
	}
	if some {
		next = next.filled()
	}
	for a, open := range both {
		m.open[a] = m.open[a] && !open
	}
	m.fill()
	copy(m.open, both)
	clear(m.known)
	return next
}
