package design

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Quadratic computes (x - m)'C(x - m) for rows x of the columns of several bases side by
// side: leverages and variances of predictions. C is symmetric (p x p). It is immutable
// and shared by any number of QuadraticWork.
type Quadratic struct {
	dims   []int
	starts []int
	c      *mat.Dense // both triangles
	mean   []float64
}

// NewQuadratic is that of bases of dims columns each. c (p x p; nil if p is 0) is copied,
// mean (p; nil: zeros) is kept and must not change.
func NewQuadratic(dims []int, c *mat.SymDense, mean []float64) (*Quadratic, error) {
	q := &Quadratic{dims: dims, mean: mean, starts: []int{0}}
	p := 0
	for _, d := range dims {
		p += d
		q.starts = append(q.starts, p)
	}
	if mean == nil {
		q.mean = make([]float64, p)
	}
	if len(q.mean) != p || p > 0 && (c == nil || c.SymmetricDim() != p) {
		return nil, fmt.Errorf("design: a quadratic form of bases with %d columns needs a matrix and means of as many", p)
	}
	q.c = &mat.Dense{}
	if p > 0 {
		q.c = mat.DenseCopyOf(c)
	}
	return q, nil
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
	of     *Quadratic
	thin   []bool // by basis: entry by entry
	ready  bool
	at     []int // first column of each dense basis among the dense ones
	panels []quadraticPanel
	cross  *mat.Dense // row j: C[j, dense columns]
	linear []float64  // -2 C m_s, of all columns; nil: m_s = 0
	dense  []float64  // -2 C m_s of the dense columns
	shift  float64    // m_s'C m_s
	rows   []float64  // centred dense columns
	prod   []float64
	index  []int32 // entries of the rows, per of each row
	value  []float64
	count  []int
	per    int
	width  int // of rows
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
const panelColumns = 64

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
	}
	_, d := c.Dims()
	return d
}

// classify decides which bases go entry by entry, and prepares C for that. A product of
// two entries takes as long as about eight of a vector's.
func (k *QuadraticWork) classify(x []Columns) {
	thin := make([]bool, len(x))
	entries, columns := 0, 0
	for b, c := range x {
		if e := entriesIn(c); 2*e < k.of.dims[b] {
			thin[b] = true
			entries, columns = entries+e, columns+k.of.dims[b]
		}
	}
	if 4*entries*entries > columns*columns {
		clear(thin)
	}
	if k.ready && equalBools(thin, k.thin) {
		return
	}
	k.thin, k.ready = thin, true
	k.prepare()
}

func equalBools(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
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
	k.linear, k.dense, k.shift, k.cross = nil, nil, 0, nil
	if some {
		var cm mat.VecDense
		cm.MulVec(k.of.c, mat.NewVecDense(p, apart))
		k.shift = mat.Dot(&cm, mat.NewVecDense(p, apart))
		cm.ScaleVec(-2, &cm)
		k.linear = cm.RawVector().Data
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

// fill copies the rows: dense columns centred, the others' entries behind one another.
func (k *QuadraticWork) fill(x []Columns, n int) {
	k.per = 0
	for b, c := range x {
		if k.thin[b] {
			k.per += entriesIn(c)
		}
	}
	k.rows = grown(k.rows, n*k.width)
	k.value = grown(k.value, n*k.per)
	if len(k.index) < n*k.per {
		k.index = make([]int32, n*k.per)
	}
	if len(k.count) < n {
		k.count = make([]int, n)
	}
	clear(k.count[:n])
	for b, c := range x {
		start := k.of.starts[b]
		if k.thin[b] {
			_ = entriesOf(c).each(func(i, j int, v float64) { // checked by Rows
				at := i*k.per + k.count[i]
				k.index[at], k.value[at] = int32(start+j), v
				k.count[i]++
			})
			continue
		}
		mean := k.of.mean[start : start+k.of.dims[b]]
		if c, ok := c.(Dense); ok {
			m := c.RawMatrix()
			for i := range n {
				kernel.Sub(k.rows[i*k.width+k.at[b]:][:len(mean)], m.Data[i*m.Stride:][:len(mean)], mean)
			}
			continue
		}
		for i := range n {
			row := k.rows[i*k.width+k.at[b]:][:len(mean)]
			for j, m := range mean {
				row[j] = -m
			}
		}
		_ = entriesOf(c).each(func(i, j int, v float64) { k.rows[i*k.width+k.at[b]+j] += v })
	}
}

// grown is n numbers, in v's memory if that is large enough.
func grown(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

// addDense sets dst to d'C_dd d, panel by panel of the triangle.
func (k *QuadraticWork) addDense(dst []float64) {
	clear(dst)
	n := len(dst)
	k.prod = grown(k.prod, n*panelColumns)
	for _, p := range k.panels {
		p.weights.Mul(k.prod, p.cols, k.rows[p.start:], k.width, n, nil)
		for i := range dst {
			dst[i] += kernel.Dot(k.prod[i*p.cols:][:p.cols], k.rows[i*k.width+p.start:][:p.cols])
		}
	}
}

// addEntries adds the terms with entries.
func (k *QuadraticWork) addEntries(dst []float64) {
	if k.linear == nil {
		return
	}
	c := k.of.c.RawMatrix()
	for i := range dst {
		index, value := k.index[i*k.per:][:k.count[i]], k.value[i*k.per:][:k.count[i]]
		var dense []float64
		sum := k.shift
		if k.width > 0 {
			dense = k.rows[i*k.width:][:k.width]
			sum += kernel.Dot(k.dense, dense)
		}
		for l, j := range index {
			row := c.Data[int(j)*c.Stride:][:c.Cols]
			v := k.linear[j] + 2*gathered(row, index[:l], value[:l]) + value[l]*row[j]
			if dense != nil {
				v += kernel.Dot(k.cross.RawRowView(int(j)), dense)
			}
			sum += value[l] * v
		}
		dst[i] += sum
	}
}

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
