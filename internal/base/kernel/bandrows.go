package kernel

import "unsafe"

// MulBandRows multiplies rows of four adjacent values with rows of b (rows x q, row stride ldb):
//
//	dst[i][j] = (a[4i]*b[s][j] + a[4i+1]*b[s+1][j]) + (a[4i+2]*b[s+2][j] + a[4i+3]*b[s+3][j]), s = first[i]
//
// with the same bits on every machine. dst (n x q, row stride ldd) overlaps no operand. It returns
// n = len(first), or the first row that begins outside of 0..rows-4; dst is undefined from there on.
func MulBandRows(dst []float64, ldd int, first []int32, a, b []float64, ldb, rows, q int) int {
	return mulBandRows(best(), dst, ldd, first, a, b, ldb, rows, q)
}

func mulBandRows(s isa, dst []float64, ldd int, first []int32, a, b []float64, ldb, rows, q int) int {
	n, starts := len(first), max(rows-Band+1, 0)
	if n == 0 || q == 0 || starts == 0 {
		return firstOutside(first, 1, starts)
	}
	within("dst", len(dst), n, q, ldd)
	within("b", len(b), rows, q, ldb)
	a = a[:Band*n]
	if s != plain {
		p := band{c: at(dst, 0), ldc: uintptr(ldd) * 8, n: uintptr(n), row: unsafe.Pointer(&first[0]), rows: uintptr(starts),
			a: at(a, 0), cols: uintptr(q), b: at(b, 0), ldb: uintptr(ldb) * 8}
		runBandRows(s, &p)
		return n - int(p.n)
	}
	for i, f := range first {
		if uint(f) >= uint(starts) {
			return i
		}
		v, row := (*[Band]float64)(a[Band*i:]), b[int(f)*ldb:]
		to := dst[i*ldd:][:q]
		r0, r1, r2, r3 := row[:q], row[ldb:][:q], row[2*ldb:][:q], row[3*ldb:][:q]
		for j := range to {
			to[j] = (float64(v[0]*r0[j]) + float64(v[1]*r1[j])) + (float64(v[2]*r2[j]) + float64(v[3]*r3[j]))
		}
	}
	return n
}
