package penalty

import (
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
)

// factorize sets L of each group and Y for the roots at hand, and adds up log|A_f|.
func (e *schur) factorize() (logDet float64, ok bool) {
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		l := e.factor[at : at+m*m]
		copy(l, e.gram[at:])
		for i := range m {
			r := e.root[lo+i]
			l[i*m+i] += r * r
		}
		if !lowerFactor(l, m) {
			return 0, false
		}
		for i := range m {
			logDet += 2 * math.Log(l[i*m+i])
		}
	}
	copy(e.y, e.border)
	e.solveLower(e.y, e.q)
	return logDet, true
}

// lowerFactor overwrites the lower triangle of a, m x m, with L of a = L L'.
func lowerFactor(a []float64, m int) bool {
	for i := range m {
		row := a[i*m : i*m+i+1]
		for j := range i {
			other := a[j*m : j*m+j+1]
			row[j] = (row[j] - dot(row[:j], other[:j])) / other[j]
		}
		v := row[i] - dot(row[:i], row[:i])
		if !(v > 0) || math.IsInf(v, 0) {
			return false
		}
		row[i] = math.Sqrt(v)
	}
	return true
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// solveLower overwrites x, n x width by rows, with L^-1 x.
func (e *schur) solveLower(x []float64, width int) {
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for i := range m {
			l, row := e.factor[at+i*m:], x[(lo+i)*width:(lo+i+1)*width]
			for j := range i {
				kernel.Axpy(row, x[(lo+j)*width:(lo+j+1)*width], -l[j])
			}
			for c := range row {
				row[c] /= l[i]
			}
		}
	}
}

// solveUpper overwrites x, n x width by rows, with L^-T x.
func (e *schur) solveUpper(x []float64, width int) {
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for i := m - 1; i >= 0; i-- {
			row := x[(lo+i)*width : (lo+i+1)*width]
			for j := i + 1; j < m; j++ {
				kernel.Axpy(row, x[(lo+j)*width:(lo+j+1)*width], -e.factor[at+j*m+i])
			}
			for c := range row {
				row[c] /= e.factor[at+i*m+i]
			}
		}
	}
}

// invertGroups sets A_g^-1.
func (e *schur) invertGroups() {
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		l, inverse := e.factor[at:at+m*m], e.inverse[at:at+m*m]
		clear(inverse)
		for c := range m { // A^-1 = L^-T L^-1
			for i := c; i < m; i++ { // column c of L^-1, in row c for now
				sum := 0.0
				if i == c {
					sum = 1
				}
				for j := c; j < i; j++ {
					sum -= l[i*m+j] * inverse[c*m+j]
				}
				inverse[c*m+i] = sum / l[i*m+i]
			}
		}
		for a := range m {
			for b := a; b < m; b++ {
				inverse[a*m+b] = dot(inverse[a*m+b:(a+1)*m], inverse[b*m+b:(b+1)*m])
				// Rows above b are done with: of row a only what is right of b is needed.
			}
			for b := range a {
				inverse[a*m+b] = inverse[b*m+a]
			}
		}
	}
}
