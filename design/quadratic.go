package design

import (
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Quadratic computes (x - m)'C(x - m) for rows x of the columns of several bases side by
// side: leverages and variances of predictions. C is symmetric (p x p). It is immutable
// and shared by any number of QuadraticWork.
type Quadratic struct {
	dims   []int
	starts []int
	c      *mat.Dense // both triangles
	data   []float64  // of c,
	stride int        // from row to row
	mean   []float64

	last struct { // see times
		sync.Mutex
		of, product []float64
	}
	other struct { // see ofDims
		sync.Mutex
		form *Quadratic
	}
	inner inner       // see inBands
	many  *manyLevels // in place of c and data; nil: C is dense
}

// NewQuadratic is that of bases of dims columns each. c (p x p; nil if p is 0) is copied,
// mean (p; nil: zeros) is kept and must not change.
func NewQuadratic(dims []int, c mat.Symmetric, mean []float64) (*Quadratic, error) {
	if own, ok := c.(*mat.SymDense); ok && own != nil && !own.IsEmpty() {
		copied := mat.NewSymDense(own.SymmetricDim(), nil)
		copied.CopySym(own)
		c = copied
	}
	return NewQuadraticIn(dims, c, mean)
}

// NewQuadraticIn is NewQuadratic in the memory of c, which must not change either: what gonum does
// not read of it, the lower triangle, is overwritten.
func NewQuadraticIn(dims []int, c mat.Symmetric, mean []float64) (*Quadratic, error) {
	q := &Quadratic{dims: dims, mean: mean, starts: []int{0}}
	p := 0
	for _, d := range dims {
		p += d
		q.starts = append(q.starts, p)
	}
	if mean == nil {
		q.mean = make([]float64, p)
	}
	if len(q.mean) != p || p > 0 && (linalg.IsNil(c) || c.SymmetricDim() != p) {
		return nil, fmt.Errorf("design: a quadratic form of bases with %d columns needs a matrix and means of as many", p)
	}
	q.c = &mat.Dense{}
	if own, ok := c.(*linalg.Structured); ok {
		return q, q.withMany(own)
	}
	if p > 0 {
		dense := linalg.Dense(c)
		raw := dense.RawSymmetric()
		q.data, q.stride = raw.Data, raw.Stride
		q.c = linalg.Mirror(dense)
	}
	return q, nil
}

// times is C m, which goes through all of C: once for all goroutines with the same m.
func (q *Quadratic) times(m []float64) []float64 {
	q.last.Lock()
	defer q.last.Unlock()
	if !slices.Equal(m, q.last.of) {
		product := make([]float64, len(m))
		linalg.EachRow(len(m), func(i int) { product[i] = kernel.Dot(q.data[i*q.stride:][:len(m)], m) })
		q.last.of, q.last.product = slices.Clone(m), product
	}
	return q.last.product
}

// QuadraticWork is the memory of one goroutine for a Quadratic.
//
// Columns that are dense, or so nearly that vectors win, are centred and multiplied as
// one matrix; the others go entry by entry, with their means taken out afterwards:
//
//	(x - m)'C(x - m) = d'C_dd d + 2 d'C_ds s + s'C_ss s - 2 (C m_s)'[d, s] + m_s'C m_s
//
// with d the centred dense columns and s the raw entries of the others.
type QuadraticWork struct {
	of      *Quadratic
	one     ofOne
	band    bandWork
	cells   cellsWork
	lean    lean
	levels  levelsWork
	pieces  bandsWork
	many    manyWork
	thin    []bool // by basis: entry by entry
	now     []bool // of the call at hand
	ready   bool
	at      []int // first column of each dense basis among the dense ones
	panels  []quadraticPanel
	cross   *mat.Dense // row j: C[j, dense columns]
	linear  []float64  // -2 C m_s, of all columns; nil: m_s = 0
	dense   []float64  // -2 C m_s of the dense columns
	shift   float64    // m_s'C m_s
	rows    []float64  // centred dense columns,
	centred []float64  // in this memory unless they are as they came
	means   []float64  // of the only basis that is dense, again and again
	prod    []float64
	dots    []float64 // of rows
	width   int       // of rows

	// The columns and values of single entries: the first ones of all rows, the second ones and so
	// on. Where codes are negative the last ones are 0.
	singles int
	index   []int32
	value   []float64
	count   []int // of each row
}

// quadraticPanel is a run of columns of the upper triangle: C there, 2C below.
type quadraticPanel struct {
	start, cols int
	weights     *kernel.Weights[float64]
}

// Work is memory for one goroutine.
func (q *Quadratic) Work() *QuadraticWork { return &QuadraticWork{of: q} }

// panelColumns is the width of a panel: wide enough for the kernels, narrow enough that
// little more than a triangle is multiplied.
const panelColumns = 24

// Rows sets dst (n) to the values at the n rows of x, one Columns for each basis.
func (k *QuadraticWork) Rows(dst []float64, x []Columns) error {
	if len(x) != len(k.of.dims) {
		return fmt.Errorf("design: columns of %d bases for a quadratic form of %d", len(x), len(k.of.dims))
	}
	for b, c := range x {
		if err := Check(c); err != nil {
			return err
		}
		if n, d := c.Dims(); n != len(dst) || d != k.of.dims[b] {
			return fmt.Errorf("design: %d x %d columns of basis %d for a quadratic form of %d rows and %d columns", n, d, b, len(dst), k.of.dims[b])
		}
	}
	if k.of.many != nil {
		return k.many.rows(k.of.many, dst, x)
	}
	if slices.ContainsFunc(x, interpolated) {
		return k.interpolated(dst, x)
	}
	if joined, dims := k.levels.joined(x, len(dst)); joined != nil {
		if w := &k.levels; w.work == nil || !slices.Equal(w.work.of.dims, dims) {
			w.work = k.of.ofDims(dims).Work()
		}
		return k.levels.work.Rows(dst, joined)
	}
	if k.single(dst, x) {
		return nil
	}
	k.classify(x)
	k.fill(x, len(dst))
	k.addDense(dst)
	k.addEntries(dst)
	return nil
}

// entriesIn is how many entries c has in a row.
func entriesIn(c Columns) int {
	switch c := c.(type) {
	case *Sparse:
		return c.K
	case *Banded:
		return c.K
	case *Codes:
		return 1
	case *Product:
		return c.A.K * c.B.K
	}
	_, d := c.Dims()
	return d
}

// vector is how many numbers the kernels work on at once.
const vector = 8

// classify decides which bases go entry by entry, and prepares C for that. A product of
// two entries takes as long as about eight of a vector's. Few codes go along with dense columns that leave
// room in their last vector.
func (k *QuadraticWork) classify(x []Columns) {
	k.now = grown(k.now, len(x))
	thin := k.now
	clear(thin)
	entries, columns, width := 0, 0, 0
	for b, c := range x {
		if e := entriesIn(c); 2*e < k.of.dims[b] {
			thin[b] = true
			entries, columns = entries+e, columns+k.of.dims[b]
		} else {
			width += k.of.dims[b]
		}
	}
	if 4*entries*entries > columns*columns {
		clear(thin)
	}
	for b, c := range x {
		if _, codes := c.(*Codes); codes && thin[b] && k.of.dims[b] <= -width&(vector-1) {
			thin[b] = false
			width += k.of.dims[b]
		}
	}
	b := k.chooseLean(x)
	if k.ready && slices.Equal(thin, k.thin) && b == k.lean.basis {
		return
	}
	k.thin, k.ready = slices.Clone(thin), true
	k.prepare()
	k.prepareLean(b)
}

// prepare copies C in the order that Rows reads it.
func (k *QuadraticWork) prepare() {
	p := k.of.starts[len(k.of.dims)]
	k.at, k.width = make([]int, len(k.thin)), 0
	var columns []int // that are dense
	apart := make([]float64, p)
	some := false
	for b, thin := range k.thin {
		k.at[b] = k.width
		lo, hi := k.of.starts[b], k.of.starts[b+1]
		if thin {
			copy(apart[lo:hi], k.of.mean[lo:hi])
			some = true
			continue
		}
		for j := lo; j < hi; j++ {
			columns = append(columns, j)
		}
		k.width += hi - lo
	}
	k.linear, k.dense, k.shift, k.cross, k.means, k.cells.forms, k.cells.table = nil, nil, 0, nil, nil, nil, nil
	if some {
		k.linear = slices.Clone(k.of.times(apart))
		k.shift = kernel.Dot(k.linear, apart)
		for j := range k.linear {
			k.linear[j] *= -2
		}
		for _, j := range columns {
			k.dense = append(k.dense, k.linear[j])
		}
		if k.width > 0 {
			k.cross = mat.NewDense(p, k.width, nil)
			for i := range p {
				row := k.cross.RawRowView(i)
				for l, j := range columns {
					row[l] = 2 * k.of.c.At(i, j)
				}
			}
		}
	}
	k.panels = nil
	for start := 0; start < k.width; start += panelColumns {
		cols, below := min(panelColumns, k.width-start), k.width-start
		w := make([]float64, below*cols)
		for i := range below {
			for j := range cols {
				v := k.of.c.At(columns[start+i], columns[start+j])
				if i >= cols {
					v *= 2
				}
				w[i*cols+j] = v
			}
		}
		k.panels = append(k.panels, quadraticPanel{start, cols, kernel.Pack(below, cols, w, false)})
	}
}

// grown is n values, in v's memory if that is large enough.
func grown[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// someRows are multiplied at a time: their products stay in the first cache until they are summed.
const someRows = 64

// addDense sets dst to d'C_dd d - 2 m_s'C_sd d, panel by panel of the triangle.
func (k *QuadraticWork) addDense(dst []float64) {
	clear(dst)
	k.prod, k.dots = grown(k.prod, someRows*panelColumns), grown(k.dots, someRows)
	for i := 0; i < len(dst); i += someRows {
		some := dst[i:min(i+someRows, len(dst))]
		n, rows := len(some), k.rows[i*k.width:]
		for _, p := range k.panels {
			var means []float64
			if k.dense != nil {
				means = k.dense[p.start:][:p.cols]
			}
			p.weights.Mul(k.prod, p.cols, rows[p.start:], k.width, n, means)
			kernel.RowDots(k.dots[:n], k.prod, p.cols, n, nil, rows[p.start:], k.width, p.cols)
			kernel.Add(some, some, k.dots[:n])
		}
	}
}

// addEntries adds the terms with entries: those of bands a pair of bases after the other,
// of all rows, the others row by row.
func (k *QuadraticWork) addEntries(dst []float64) {
	if k.linear == nil {
		return
	}
	kernel.Axpy(dst, k.ones(len(dst)), k.shift)
	k.addBands(dst)
	if k.cells.basis >= 0 {
		k.addCells(dst)
	}
	for l := range k.singles {
		k.addSingle(dst, l)
	}
}

// addSingle adds the products of each row's single entry l with itself, with those before it, with
// the mean and with the other columns.
func (k *QuadraticWork) addSingle(dst []float64, l int) {
	n := len(dst)
	index, value := k.index[l*n:][:n], k.value[l*n:][:n]
	with := k.withCells(index)
	for i, j := range index {
		half := 0.0
		for m := i; m < l*n; m += n {
			half += k.value[m] * k.lean.at(int(j), int(k.index[m]))
		}
		if with != nil {
			half += with[i]
		}
		dst[i] += value[i] * (k.linear[j] + 2*half + value[i]*k.lean.onDiagonal(int(j)))
	}
	for _, f := range k.band.list[:k.band.count] {
		f.addRows(dst, &k.lean, index, value)
	}
	if k.width > 0 {
		k.dots = grown(k.dots, n)
		cross := k.cross.RawMatrix()
		kernel.RowDots(k.dots, cross.Data, cross.Stride, cross.Rows, index, k.rows, k.width, k.width)
		for i, v := range value {
			dst[i] += v * k.dots[i]
		}
	}
}

func (k *QuadraticWork) row(j int) []float64 { return k.of.data[j*k.of.stride:][:len(k.of.mean)] }

// gathered is the sum of value times row at index.
func gathered(row []float64, index []int32, value []float64) float64 {
	var s0, s1, s2, s3 float64
	value = value[:len(index)]
	l := 0
	for ; l+4 <= len(index); l += 4 {
		s0 += value[l] * row[index[l]]
		s1 += value[l+1] * row[index[l+1]]
		s2 += value[l+2] * row[index[l+2]]
		s3 += value[l+3] * row[index[l+3]]
	}
	for ; l < len(index); l++ {
		s0 += value[l] * row[index[l]]
	}
	return (s0 + s1) + (s2 + s3)
}
