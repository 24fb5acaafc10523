package kernel

import "unsafe"

// scatter is the argument of the assembly that adds rows of b to rows of c.
type scatter struct {
	c      unsafe.Pointer
	ldc    uintptr // bytes
	rows   uintptr
	n      uintptr // at least 1; on return the rows of b that are left at one that cannot be added
	index  unsafe.Pointer
	k      uintptr
	factor unsafe.Pointer
	first  unsafe.Pointer
	starts uintptr
	b      unsafe.Pointer
	ldb    uintptr // bytes
	q      uintptr
}

// ScatterRows adds each of the n rows of b (n x q, row stride ldb), times factors,
// to k rows of c (rows x q, row stride ldc):
//
//	c[index[i*k+l]][j] += factor[i*k+l] * b[i][j], l = 0, ..., k-1
//
// in row order; a nil factor means ones. c overlaps no operand. It returns n, or
// the first row with an index outside 0..rows-1: rows before it are added, and of it
// the entries before that index.
func ScatterRows(c []float64, ldc, rows int, index []int32, k int, factor, b []float64, ldb, q, n int) int {
	return scatterRows(best(), c, ldc, rows, index, k, factor, b, ldb, q, n)
}

func scatterRows(s isa, c []float64, ldc, rows int, index []int32, k int, factor, b []float64, ldb, q, n int) int {
	switch {
	case n == 0 || k == 0:
		return n
	case q == 0:
		return firstOutside(index[:n*k], k, rows)
	}
	within("c", len(c), rows, q, ldc)
	within("b", len(b), n, q, ldb)
	index = index[:n*k]
	if factor != nil {
		factor = factor[:n*k]
	}
	if s != plain {
		a := scatter{c: at(c, 0), ldc: uintptr(ldc) * 8, rows: uintptr(rows), n: uintptr(n), index: unsafe.Pointer(&index[0]), k: uintptr(k),
			factor: at(factor, 0), b: at(b, 0), ldb: uintptr(ldb) * 8, q: uintptr(q)}
		runScatter(s, &a)
		return n - int(a.n)
	}
	for i := range n {
		from := b[i*ldb:][:q]
		for l := i * k; l < (i+1)*k; l++ {
			if uint32(index[l]) >= uint32(rows) {
				return i
			}
			to := c[int(index[l])*ldc:][:q]
			if factor == nil {
				for j, v := range from {
					to[j] += v
				}
				continue
			}
			f := factor[l]
			for j, v := range from {
				to[j] += float64(f * v)
			}
		}
	}
	return n
}

// ScatterBand is ScatterRows for rows of four adjacent values, row i of them in
// columns first[i] to first[i]+3 of c (rows x q). It returns n = len(first), or the
// first row with an index outside 0..rows-1 or a column outside 0..q-4.
func ScatterBand(c []float64, ldc, rows, q int, index []int32, k int, factor []float64, first []int32, b []float64) int {
	return scatterBand(best(), c, ldc, rows, q, index, k, factor, first, b)
}

func scatterBand(s isa, c []float64, ldc, rows, q int, index []int32, k int, factor []float64, first []int32, b []float64) int {
	n, starts := len(first), max(q-Band+1, 0)
	if n == 0 || k == 0 {
		return firstOutside(first, 1, starts)
	}
	within("c", len(c), rows, q, ldc)
	index, b = index[:n*k], b[:n*Band]
	if factor != nil {
		factor = factor[:n*k]
	}
	if s != plain {
		a := scatter{c: at(c, 0), ldc: uintptr(ldc) * 8, rows: uintptr(rows), n: uintptr(n), index: unsafe.Pointer(&index[0]), k: uintptr(k),
			factor: at(factor, 0), first: unsafe.Pointer(&first[0]), starts: uintptr(starts), b: at(b, 0)}
		runScatterBand(&a)
		return n - int(a.n)
	}
	for i, j := range first {
		if uint32(j) >= uint32(starts) {
			return i
		}
		v := b[i*Band:][:Band]
		v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
		for l := i * k; l < (i+1)*k; l++ {
			if uint32(index[l]) >= uint32(rows) {
				return i
			}
			to := c[int(index[l])*ldc+int(j):][:Band]
			f := 1.0
			if factor != nil {
				f = factor[l]
			}
			to[0] += float64(f * v0)
			to[1] += float64(f * v1)
			to[2] += float64(f * v2)
			to[3] += float64(f * v3)
		}
	}
	return n
}
