package kernel

import "unsafe"

// MulBand multiplies rows of four adjacent values with coefficients:
//
//	dst[i] = (a[4i]*b[s] + a[4i+1]*b[s+1]) + (a[4i+2]*b[s+2] + a[4i+3]*b[s+3]), s = first[i]
//
// with the same bits on every machine. It returns n = len(first), or the first row
// that begins outside of 0..len(b)-4; dst (n) is undefined from there on.
func MulBand(dst []float64, first []int32, a, b []float64) int {
	return mulBand(best(), dst, first, a, b)
}

func mulBand(s isa, dst []float64, first []int32, a, b []float64) int {
	n, starts := len(first), len(b)-Band+1
	dst, a = dst[:n], a[:Band*n]
	if starts < 1 {
		return 0
	}
	done := 0
	if whole := n &^ 3; s != plain && whole > 0 {
		p := band{c: at(dst, 0), n: uintptr(whole), row: unsafe.Pointer(&first[0]), rows: uintptr(starts), a: at(a, 0), b: at(b, 0)}
		runBandMul(&p)
		done = whole - int(p.n) // fours before the first that holds a wrong row
	}
	for i, f := range first[done:] {
		if uint(f) >= uint(starts) {
			return done + i
		}
		v, c := a[Band*(done+i):][:Band], b[f:][:Band]
		dst[done+i] = (float64(v[0]*c[0]) + float64(v[1]*c[1])) + (float64(v[2]*c[2]) + float64(v[3]*c[3]))
	}
	return n
}
