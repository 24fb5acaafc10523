package kernel

import "unsafe"

// AddBilinear adds forms of two bands: for each of the n = len(row) = len(col) rows
//
//	dst[i] += sum over l, m of a[4i+l] * c[(row[i]+l)*ldc + col[i]+m] * b[4i+m]
//
// in a fixed order, with the same bits on every machine. c (p x q, row stride ldc) has rows
// where row begins, 0 to p-4, and columns where col begins, 0 to q-4. It returns n, or the
// first row that begins outside; dst (n) is undefined from there on.
func AddBilinear(dst, c []float64, ldc, p, q int, row []int32, a []float64, col []int32, b []float64) int {
	return addBilinear(best(), dst, c, ldc, p, q, row, a, col, b)
}

func addBilinear(s isa, dst, c []float64, ldc, p, q int, row []int32, a []float64, col []int32, b []float64) int {
	n, rows, cols := len(row), p-Band+1, q-Band+1
	dst, a, col, b = dst[:n], a[:Band*n], col[:n], b[:Band*n]
	if rows < 1 || cols < 1 {
		return 0
	}
	within("c", len(c), p, q, ldc)
	done := 0
	if whole := n &^ 3; s != plain && whole > 0 {
		f := band{c: at(dst, 0), n: uintptr(whole), row: unsafe.Pointer(&row[0]), rows: uintptr(rows), a: at(a, 0),
			col: unsafe.Pointer(&col[0]), cols: uintptr(cols), b: at(b, 0), ldb: uintptr(ldc) * 8, w: at(c, 0)}
		runBilinear(&f)
		done = whole - int(f.n) // fours before the first that holds a wrong row
	}
	for i := done; i < n; i++ {
		r, k := row[i], col[i]
		if uint(r) >= uint(rows) || uint(k) >= uint(cols) {
			return i
		}
		at := int(r)*ldc + int(k)
		va, vb := (*[Band]float64)(a[Band*i:]), (*[Band]float64)(b[Band*i:])
		c0, c1 := (*[Band]float64)(c[at:]), (*[Band]float64)(c[at+ldc:])
		c2, c3 := (*[Band]float64)(c[at+2*ldc:]), (*[Band]float64)(c[at+3*ldc:])
		var t [Band]float64
		for m, v := range vb {
			t[m] = float64(((float64(va[0]*c0[m]) + float64(va[1]*c1[m])) + (float64(va[2]*c2[m]) + float64(va[3]*c3[m]))) * v)
		}
		dst[i] += (t[0] + t[1]) + (t[2] + t[3])
	}
	return n
}
