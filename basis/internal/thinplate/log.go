package thinplate

import "math"

// logTable holds what a quick logarithm needs: for 128 intervals of [1, 2) the
// inverse of the centre and its logarithm. Distances and their logarithms are most of
// the work of a surface; with this logarithm, inlined in the loop, it takes little
// more than half the time that it takes with math.Log.
type logTable struct{ inverse, log [128]float64 }

func newLogTable() *logTable {
	t := &logTable{}
	for i := range t.log {
		centre := 1 + (float64(i)+0.5)/128
		t.inverse[i], t.log[i] = 1/centre, math.Log(centre)
	}
	return t
}

// xLogX writes c s log(s) in place of the squared distances s >= 0; 0 for 0. The
// logarithm's absolute error is that of rounding.
func (t *logTable) xLogX(c float64, s []float64) {
	const (
		mantissa = 1<<52 - 1
		one      = 1023 << 52
		top      = 127 << 45 // of the mantissa: the interval
		half     = 1 << 44
	)
	for j, v := range s {
		if !(v > 1e-300 && v < 1e300) {
			if v != 0 {
				v *= c * math.Log(v)
			}
			s[j] = v
			continue
		}
		bits := math.Float64bits(v)
		i := bits >> 45 & 127
		m := math.Float64frombits(bits&mantissa | one)
		r := (m - math.Float64frombits(bits&top|half|one)) * t.inverse[i] // at most 1/256
		l := float64(int64(bits>>52)-1023)*math.Ln2 + (t.log[i] + r*(1+r*(-1./2+r*(1./3+r*(-1./4+r*(1./5-r*(1./6)))))))
		s[j] = c * v * l
	}
}
