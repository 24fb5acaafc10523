package kernel

import "unsafe"

// Band is the number of adjacent entries in a row of the operands below: that of
// the cubic B-splines that are not 0 at a point.
const Band = 4

// band is the argument of the assembly that runs over rows of four entries. Sums
// go to cells: one for each place where the entries begin, so that two rows
// write either to the same vectors or to different ones.
type band struct {
	c    unsafe.Pointer
	n    uintptr // rows, at least 1; on return those left at a row in no cell
	row  unsafe.Pointer
	rows uintptr
	a    unsafe.Pointer
	col  unsafe.Pointer
	cols uintptr
	b    unsafe.Pointer
	ldb  uintptr // bytes between rows of b, or between the terms of a fold
	w    unsafe.Pointer
	ldc  uintptr // bytes between rows of c
}

// AddOuter adds, for each of the n = len(row) = len(col) rows, the outer product
// of four values of a and four of b to a cell:
//
//	c[((row[i]*cols + col[i])*4 + l)*4 + m] += a[4i+l] * (b[4i+m] * w[i])
//
// in row order; c holds cells for rows 0..rows-1 and columns 0..cols-1, a nil w
// means ones. c overlaps no operand; it is fastest if Aligned. It returns n, or the
// first row that is in no cell: then only the rows before it are added.
func AddOuter(c []float64, rows, cols int, row []int32, a []float64, col []int32, b, w []float64) int {
	return addOuter(best(), c, rows, cols, row, a, col, b, w)
}

func addOuter(s isa, c []float64, rows, cols int, row []int32, a []float64, col []int32, b, w []float64) int {
	n := len(row)
	if n == 0 {
		return 0
	}
	col, a, b, c = col[:n], a[:Band*n], b[:Band*n], c[:rows*cols*Band*Band]
	if w != nil {
		w = w[:n]
	}
	if s == plain {
		return outerPlain(c, rows, cols, row, a, col, b, w)
	}
	p := band{c: at(c, 0), n: uintptr(n), row: unsafe.Pointer(&row[0]), rows: uintptr(rows), a: at(a, 0),
		col: unsafe.Pointer(&col[0]), cols: uintptr(cols), b: at(b, 0), w: at(w, 0)}
	runBandOuter(s, &p)
	return n - int(p.n)
}

func outerPlain(c []float64, rows, cols int, row []int32, a []float64, col []int32, b, w []float64) int {
	for i, r := range row {
		s := col[i]
		if uint32(r) >= uint32(rows) || uint32(s) >= uint32(cols) {
			return i
		}
		vb := b[Band*i:][:Band]
		b0, b1, b2, b3 := vb[0], vb[1], vb[2], vb[3]
		if w != nil {
			wi := w[i]
			b0, b1, b2, b3 = b0*wi, b1*wi, b2*wi, b3*wi
		}
		cell := c[(int(r)*cols+int(s))*Band*Band:][:Band*Band]
		for l, v := range a[Band*i:][:Band] {
			to := cell[Band*l:][:Band]
			to[0] += float64(v * b0)
			to[1] += float64(v * b1)
			to[2] += float64(v * b2)
			to[3] += float64(v * b3)
		}
	}
	return len(row)
}

// AddScaled adds, for each of the n = len(row) rows, the four values of a times
// every value of a row of b (n x q, row stride ldb, which may be 0) to cells:
//
//	c[(row[i]*q + k)*4 + l] += (a[4i+l] * w[i]) * b[i*ldb+k]
//
// in row order; c holds cells for rows 0..rows-1, a nil w means ones. It returns
// what AddOuter does.
func AddScaled(c []float64, rows int, row []int32, a []float64, b []float64, ldb, q int, w []float64) int {
	return addScaled(best(), c, rows, row, a, b, ldb, q, w)
}

func addScaled(s isa, c []float64, rows int, row []int32, a []float64, b []float64, ldb, q int, w []float64) int {
	n := len(row)
	if n == 0 || q == 0 {
		return firstOutside(row, 1, rows)
	}
	a, c, b = a[:Band*n], c[:rows*q*Band], b[:(n-1)*ldb+q]
	if w != nil {
		w = w[:n]
	}
	if s == plain {
		return scaledPlain(c, rows, row, a, b, ldb, q, w)
	}
	p := band{c: at(c, 0), n: uintptr(n), row: unsafe.Pointer(&row[0]), rows: uintptr(rows), a: at(a, 0),
		cols: uintptr(q), b: at(b, 0), ldb: uintptr(ldb) * 8, w: at(w, 0)}
	runBandScale(s, &p)
	return n - int(p.n)
}

// firstOutside is what a loop over rows of k indices returns that has nothing to add:
// the first row with an index outside 0..limit-1, or the number of rows.
func firstOutside(index []int32, k, limit int) int {
	for i, v := range index {
		if uint32(v) >= uint32(limit) {
			return i / k
		}
	}
	return len(index) / k
}

func scaledPlain(c []float64, rows int, row []int32, a []float64, b []float64, ldb, q int, w []float64) int {
	for i, r := range row {
		if uint32(r) >= uint32(rows) {
			return i
		}
		va := a[Band*i:][:Band]
		a0, a1, a2, a3 := va[0], va[1], va[2], va[3]
		if w != nil {
			wi := w[i]
			a0, a1, a2, a3 = a0*wi, a1*wi, a2*wi, a3*wi
		}
		cells := c[int(r)*q*Band:][:q*Band]
		for k, v := range b[i*ldb:][:q] {
			to := cells[k*Band:][:Band]
			to[0] += float64(a0 * v)
			to[1] += float64(a1 * v)
			to[2] += float64(a2 * v)
			to[3] += float64(a3 * v)
		}
	}
	return len(row)
}

// FoldOuter adds the cells of AddOuter to the p x q matrix whose rows and columns
// they begin at (row stride ldd), around the circle where they end beyond it:
//
//	dst[(r+l) mod p][(s+m) mod q] += c[((r*cols + s)*4 + l)*4 + m]
//
// for r < rows <= p and s < cols <= q. It destroys c.
//
// Cells do not overlap, and are two cache lines each: blocks that overlap by a column would make
// the processor wait for its own stores. They are folded once for many rows.
func FoldOuter(dst []float64, ldd, p, q int, c []float64, rows, cols int) {
	foldOuter(best(), dst, ldd, p, q, c, rows, cols)
}

func foldOuter(s isa, dst []float64, ldd, p, q int, c []float64, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	within("dst", len(dst), p, q, ldd)
	c = c[:rows*cols*Band*Band]
	for i := range rows + Band - 1 { // row i of the sum: cells r = i-l
		first := max(0, i-rows+1)
		terms := min(i, Band-1) - first
		from := ((i-first)*cols*Band + first) * Band
		if terms > 0 {
			foldRow(s, c, from, terms, cols)
		}
		foldColumns(dst[i%p*ldd:][:q], c[from:], cols)
	}
}

// foldRow adds terms more addends of one row of the sum to the first one, which is at
// c[from]. Each addend lies one cell before and one row below the last.
func foldRow(s isa, c []float64, from, terms, cols int) {
	const cell = Band * Band
	step := Band - cols*cell
	if s != plain {
		runBandFold(&band{c: at(c, from), n: uintptr(cols), rows: uintptr(terms), ldb: uintptr(step * 8)})
		return
	}
	for j := range cols {
		to := c[from+j*cell:][:Band]
		for l := 1; l <= terms; l++ {
			for m, v := range c[from+j*cell+l*step:][:Band] {
				to[m] += v
			}
		}
	}
}

// foldColumns adds the cells of one row, four values each, to dst, the m-th value
// m columns on.
func foldColumns(dst, c []float64, cols int) {
	const cell = Band * Band
	n0, n1, n2 := 0.0, 0.0, 0.0 // of the next columns
	for s := range cols {
		v := c[s*cell:][:Band]
		dst[s] += n0 + v[0]
		n0, n1, n2 = n1+v[1], n2+v[2], v[3]
	}
	q := len(dst)
	dst[cols%q] += n0
	dst[(cols+1)%q] += n1
	dst[(cols+2)%q] += n2
}

// Aligned returns n zeros that begin at a cache line.
func Aligned(n int) []float64 { return aligned[float64](n) }
