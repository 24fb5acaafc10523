package kernel

import (
	"fmt"
	"unsafe"
)

// What training goes through lies unit by unit: a block of n rows of q units is q runs of n
// values, UnitStride apart. A product with weights then takes them as they are, in either
// direction, and its vectors are filled by rows, of which a batch has more than whole
// vectors, not by units, of which a layer may have 200 or 8.

// UnitStride is the distance between the units of a block of n rows: whole cache lines. Of
// more than two it is an odd number of them, for units an even number apart would share few
// of the sets of the first cache.
func UnitStride[T Float](n int) int {
	const line = 64
	lines := (n*sizeOf[T]() + line - 1) / line
	if lines > 2 {
		lines |= 1
	}
	return lines * line / sizeOf[T]()
}

// Units is memory for a block of n rows of the given number of units, in v's if that is
// large enough. What lies between the rows and the next unit is finite and otherwise
// unspecified, as are the values.
func Units[T Float](v []T, units, n int) []T {
	if size := units * UnitStride[T](n); cap(v) >= size {
		return v[:size]
	}
	return aligned[T](units * UnitStride[T](n))
}

// Matrix is Rows x Cols numbers in place: element (i, l) is Data[i RowStep + l ColStep].
type Matrix[T Float] struct {
	Data             []T
	Rows, Cols       int
	RowStep, ColStep int
}

// MulUnits sets c (Rows units of n rows) to the matrix times b (Cols units of n rows) plus
// bias, one number for each unit or nil for 0; with relu, negative results become 0. Every
// element is summed in order of the columns. c overlaps neither b nor bias.
func (m Matrix[T]) MulUnits(c, b []T, n int, bias []T, relu bool) {
	m.mulUnits(best(), c, b, n, bias, relu)
}

func (m Matrix[T]) mulUnits(s isa, c, b []T, n int, bias []T, relu bool) {
	if n == 0 || m.Rows == 0 {
		return
	}
	ld := UnitStride[T](n)
	c, b = c[:m.Rows*ld], b[:m.Cols*ld]
	if last := (m.Rows-1)*m.RowStep + (m.Cols-1)*m.ColStep; m.Cols > 0 && (last >= len(m.Data) || m.RowStep < 0 || m.ColStep < 0) {
		panic(fmt.Sprintf("kernel: a matrix of %d x %d, steps %d and %d, has %d values", m.Rows, m.Cols, m.RowStep, m.ColStep, len(m.Data)))
	}
	if bias != nil {
		bias = bias[:m.Rows]
	}
	if s == plain {
		m.mulUnitsPlain(c, b, ld, bias, relu)
		return
	}
	// A panel of b, kc values of two vectors of rows, stays in the first cache, and
	// the part of the matrix that passes by it in the second.
	const part = 1 << 18
	size, kc := sizeOf[T](), kStep(m.Cols)
	rows := max(12, part/size/max(kc, 1)/12*12)
	t := unitTile{rs: uintptr(m.RowStep * size), ks: uintptr(m.ColStep * size), bs: uintptr(ld * size), cs: uintptr(ld * size)}
	for l := 0; ; l += kc {
		t.k = uintptr(min(kc, m.Cols-l))
		last := l+kc >= m.Cols
		t.add, t.relu = bit(l > 0), bit(relu && last)
		if m.Cols > 0 {
			t.b = at(b, l*ld)
		}
		for i := 0; i < m.Rows; i += rows {
			m.strips(s, t, c, i, min(i+rows, m.Rows), l, n, bias)
		}
		if last {
			return
		}
	}
}

func bit(v bool) uintptr {
	if v {
		return 1
	}
	return 0
}

// strips computes rows i to end-1 of the matrix for products from column l on: strips of at
// least four rows, two vectors wide, and then what is left, four vectors wide.
func (m Matrix[T]) strips(s isa, t unitTile, c []T, i, end, l, n int, bias []T) {
	ld, lanes := UnitStride[T](n), lanes[T](s)
	vectors := (n + lanes - 1) / lanes
	b := t.b
	for low := range 2 {
		from, width := i, 2+2*low
		for v := 0; v < vectors; v += int(t.cols) {
			t.cols = uintptr(width)
			for int(t.cols) > vectors-v {
				t.cols /= 2
			}
			if b != nil {
				t.b = unsafe.Add(b, v*s.vector())
			}
			for i = from; i < end && (low == 1 || end-i >= 4); i += int(t.rows) * m.column(s, &t, c, i, end, l, v*lanes, ld, bias) {
			}
		}
	}
}

// column runs strips of one height from row i on, and returns how many.
func (m Matrix[T]) column(s isa, t *unitTile, c []T, i, end, l, at0, ld int, bias []T) int {
	h := s.height(end - i)
	strips := 1
	if h > 4 {
		strips = (end - i) / h
	}
	t.rows, t.strips = uintptr(h), uintptr(strips)
	t.aMoved, t.cMoved, t.biasMoved = 0, 0, 0
	if m.Cols > 0 {
		t.a = at(m.Data, i*m.RowStep+l*m.ColStep)
	}
	t.c = at(c, i*ld+at0)
	if bias != nil {
		t.bias = at(bias, i)
	}
	runUnit[T](s, t)
	return strips
}

func (m Matrix[T]) mulUnitsPlain(c, b []T, ld int, bias []T, relu bool) {
	a := make([]T, m.Cols) // a row of the matrix, its columns side by side
	for i := range m.Rows {
		row := c[i*ld:][:ld]
		var start T
		if bias != nil {
			start = bias[i]
		}
		fill(row, start)
		for l := range a {
			a[l] = m.Data[i*m.RowStep+l*m.ColStep]
		}
		gemmPlain(row, ld, a, m.Cols, b, 1, ld, m.Cols)
		if relu {
			for j, x := range row {
				row[j] = rectified(x, true)
			}
		}
	}
}

// unitTile is the argument of the assembly that computes tiles of C = X + A*B, one below
// the other: rows x cols vectors, each element one chain of fused multiply-adds in order of
// k from its initial value. The assembly knows the offsets of the fields.
type unitTile struct {
	a      unsafe.Pointer // element (0, 0) of A
	rs, ks uintptr        // bytes between rows and columns of A
	b      unsafe.Pointer // k rows of whole vectors
	bs     uintptr        // bytes between them
	k      uintptr
	bias   unsafe.Pointer // initial values of the rows of C, or nil for 0
	c      unsafe.Pointer
	cs     uintptr // bytes between its rows
	add    uintptr // not 0: the initial values are those of C
	relu   uintptr // not 0: negative results become 0
	strips uintptr // tiles, at least one
	rows   uintptr // of a tile: a height of the instruction set
	cols   uintptr // vectors of a tile: 1, 2 or, of at most two rows, 4
	// Bytes from a, c and bias to the next tile's: the assembly's own, 0 at first. They are
	// no pointers, which may not point behind memory.
	aMoved, cMoved, biasMoved uintptr
}

// Rows is a block of units turned into rows: what sums over rows read.
type Rows[T Float] struct {
	n, q int
	isa  isa
	// data holds the rows one after another if isa is plain, else panels as Weights has
	// them: two vectors of units each, row by row.
	data []T
}

// Turn fills r with q units of n rows. Where the number of mask in the same place is 0, the
// output of Relu, the unit's number becomes 0 first, in units too; nil: nowhere.
func (r *Rows[T]) Turn(units, mask []T, q, n int) { r.turn(best(), units, mask, q, n) }

func (r *Rows[T]) turn(s isa, units, mask []T, q, n int) {
	ld := UnitStride[T](n)
	r.n, r.q, r.isa = n, q, s
	if q == 0 || n == 0 {
		return
	}
	units = units[:q*ld]
	if mask != nil {
		mask = mask[:len(units)]
	}
	if s == plain {
		r.size(n * q)
		r.turnPart(r.data, q, units, mask, q)
		return
	}
	nr := 2 * lanes[T](s)
	r.size(r.rows() * ((q + nr - 1) / nr * nr))
	for j := 0; j < q; j += nr {
		cols := min(nr, q-j)
		width, panel := panelWidth[T](s, cols), r.data[j*r.rows():]
		for u, side := 0, lanes[T](s); u < cols; u += side {
			from := units[(j+u)*ld:]
			var off []T
			if mask != nil {
				off = mask[(j+u)*ld:]
			}
			if s == avx512 && u+side <= cols {
				runTurn[T](&turning{
					src: at(from, 0), mask: at(off, 0), ss: uintptr(ld * sizeOf[T]()),
					dst: at(panel, u), ds: uintptr(width * sizeOf[T]()), n: uintptr((n + side - 1) / side),
				})
				continue
			}
			r.turnPart(panel[u:], width, from, off, min(side, cols-u))
		}
	}
}

// rows is the number of rows in a panel: whole vectors of every length.
func (r *Rows[T]) rows() int {
	whole := 64 / sizeOf[T]()
	return (r.n + whole - 1) / whole * whole
}

func (r *Rows[T]) size(n int) {
	if cap(r.data) < n {
		r.data = aligned[T](n)
	}
	r.data = r.data[:n]
}

// turnPart writes q units as the first columns of rows, which are width apart.
func (r *Rows[T]) turnPart(dst []T, width int, units, mask []T, q int) {
	ld := UnitStride[T](r.n)
	if mask != nil {
		reluGrad(r.isa, units[:q*ld], units[:q*ld], mask[:q*ld])
	}
	u, side := 0, lanes[T](avx2)
	for ; r.isa != plain && u+side <= q; u += side {
		runTranspose[T](&squares{
			src: at(units, u*ld), ss: uintptr(ld * sizeOf[T]()),
			dst: at(dst, u), ds: uintptr(width * sizeOf[T]()), n: uintptr((r.n + side - 1) / side),
		})
	}
	for ; u < q; u++ {
		for i, x := range units[u*ld:][:r.n] {
			dst[i*width+u] = x
		}
	}
}

// turning is the argument of the assembly that turns squares of one vector of units by as
// many rows. It knows the offsets of the fields.
type turning struct {
	src  unsafe.Pointer // first unit
	mask unsafe.Pointer // of the units where they are switched on, 0 elsewhere; nil: all are on
	ss   uintptr        // bytes between units, of both
	dst  unsafe.Pointer // first row
	ds   uintptr        // bytes between rows
	n    uintptr        // squares, one vector of rows each
}

// panel is the panel that begins with unit j, and the values of a row of it.
func (r *Rows[T]) panel(j int) (data []T, width int) {
	if r.isa == plain {
		return r.data[j:], r.q
	}
	return r.data[j*r.rows():], panelWidth[T](r.isa, min(2*lanes[T](r.isa), r.q-j))
}

// Columns is how many units from unit j on AddProduct takes together: of an instruction set
// that leaves out products with 0 several panels, since each number is looked at once for all.
func (r *Rows[T]) Columns(j int) int {
	if r.isa == plain {
		return min(64, r.q-j)
	}
	nr := 2 * lanes[T](r.isa)
	if panels := sparsePanels(r.isa, (r.q-j)/nr, rowBlock); panels > 0 {
		return panels * nr
	}
	return min(nr, r.q-j)
}

// AddProduct adds X'D to columns j to j + Columns(j) - 1 of c, p x q numbers with rows ldc
// apart: x is a block of p units, D are the rows of r, j is 0 or where the columns before end.
// Every element is summed in row order. Where much of x is 0, as behind a Relu, products with
// that are left out: bits are as they were if D is finite, but for the sign of a sum that is 0.
// c overlaps neither.
func (r *Rows[T]) AddProduct(c []T, ldc int, x []T, p, j int) {
	ld := UnitStride[T](r.n)
	if p == 0 || r.n == 0 || j >= r.q {
		return
	}
	cols := r.Columns(j)
	x = x[:p*ld]
	within("c", len(c), p, j+cols, ldc)
	switch whole := p - p%lanes[T](avx512); {
	case r.isa == plain:
		d, _ := r.panel(j)
		for u := range p {
			row := c[u*ldc+j:][:cols]
			for i, a := range x[u*ld:][:r.n] {
				for k, y := range d[i*r.q:][:cols] {
					row[k] += T(a * y)
				}
			}
		}
	case r.isa == avx512 && r.q == 1 && ldc == 1 && whole > 0:
		r.addColumn(c[:whole], x, r.data)
		if p > whole {
			r.addTiles(c[whole:], ldc, x[whole*ld:], p-whole, j, cols, 0, r.n)
		}
	case cols > 2*lanes[T](r.isa):
		r.addNonzeros(c, ldc, x, p, j, cols)
	default:
		r.addTiles(c, ldc, x, p, j, cols, 0, r.n)
	}
}

// addTiles adds what rows from to end-1 have to so many columns from j on, panel by panel.
func (r *Rows[T]) addTiles(c []T, ldc int, x []T, p, j, cols, from, end int) {
	ld, size := UnitStride[T](r.n), uintptr(sizeOf[T]())
	t := tile{rs: uintptr(ld) * size, ks: size, cs: uintptr(ldc) * size}
	for ; cols > 0; j, cols = j+r.panelUnits(), cols-r.panelUnits() {
		d, width := r.panel(j)
		t.bs, t.c, t.cols = uintptr(width)*size, at(c, j), uintptr(min(cols, r.panelUnits()))
		t.x, t.xs = t.c, t.cs
		for i := from; i < end; i += kBlock {
			t.k, t.a, t.b = uintptr(min(kBlock, end-i)), at(x, i), at(d, i*width)
			tileColumn[T](r.isa, t, p, nil)
		}
	}
}

// panelUnits is the number of units of a panel, of which the last may have fewer.
func (r *Rows[T]) panelUnits() int {
	if r.isa == plain {
		return 64
	}
	return 2 * lanes[T](r.isa)
}

// AddSums adds the rows, one after the other, to sum.
func (r *Rows[T]) AddSums(sum []T) {
	sum = sum[:r.q]
	for j := 0; j < r.q && r.n > 0; j += r.panelUnits() {
		d, width := r.panel(j)
		part := sum[j:min(j+r.panelUnits(), r.q)]
		vectors := 0
		if r.isa != plain {
			vectors = len(part) - len(part)%lanes[T](avx2)
		}
		if vectors > 0 {
			runSumRows[T](&sumRows{src: at(d, 0), sum: at(part, 0), rows: uintptr(r.n), cols: uintptr(vectors), ld: uintptr(width * sizeOf[T]())})
		}
		for k := vectors; k < len(part); k++ {
			for i := range r.n {
				part[k] += d[i*width+k]
			}
		}
	}
}

// sumRows is the argument of the assembly that adds rows to their sum. It knows the offsets
// of the fields.
type sumRows struct {
	src, sum unsafe.Pointer
	rows     uintptr // at least one
	cols     uintptr // whole vectors of them, at least one
	ld       uintptr // bytes between rows
}
