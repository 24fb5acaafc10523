package moments

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/householder"
	"github.com/pho-go/pho/internal/base/kernel"
)

// factored lists the columns of bases in any predictor: those of a factor. It is
// empty for a layout that does not pass Check.
func (l Layout) factored() []int {
	if l.Check() != nil {
		return nil
	}
	var columns []int
	uses, off := l.uses(), l.offsets()
	for a := range l.Bases {
		if len(uses[a]) == 0 {
			continue
		}
		for j := off[a]; j < off[a+1]; j++ {
			columns = append(columns, j)
		}
	}
	return columns
}

// factorColumns is the number of columns of a factor, without the responses.
func (l Layout) factorColumns() int {
	n := 0
	for a, uses := range l.uses() {
		if len(uses) > 0 {
			n += l.Bases[a].Dim
		}
	}
	return n
}

// triangle is an n x n upper triangle of zeros.
func triangle(n int) *mat.TriDense {
	if n == 0 {
		return &mat.TriDense{}
	}
	return mat.NewTriDense(n, mat.Upper, nil)
}

func cloneTri(a *mat.TriDense) *mat.TriDense {
	if a == nil {
		return nil
	}
	n, _ := a.Dims()
	c := triangle(n)
	if n > 0 {
		c.Copy(a)
	}
	return c
}

// stack is the pairwise update of the factor: the centred rows of both sides and
// sqrt(W_a W_b/W) d', d the difference of the means, triangularised again.
func (m *Moments) stack(next *mat.TriDense, f float64, d, dr []float64) {
	n, _ := m.R.Dims()
	if n == 0 {
		return
	}
	rows := make([]float64, (n+1)*n)
	for i, j := range m.Layout.factored() {
		rows[i] = f * d[j]
	}
	for k, e := range dr {
		rows[n-len(dr)+k] = f * e
	}
	from := next.RawTriangular()
	for i := range n {
		copy(rows[(i+1)*n+i:(i+2)*n], from.Data[i*from.Stride+i:][:n-i])
	}
	householder.Stack(m.R.RawTriangular().Data, n, rows, n, n+1, 1, new(householder.Work))
}

// factorSquares are the sums of squares of R's columns; 0 for bases it is not
// about.
func (m *Moments) factorSquares() (x, r []float64) {
	x, r = make([]float64, len(m.Mean)), make([]float64, len(m.MeanR))
	t := m.R.RawTriangular()
	sums := make([]float64, t.N)
	for i := range t.N {
		for j := i; j < t.N; j++ {
			v := t.Data[i*t.Stride+j]
			sums[j] += v * v
		}
	}
	columns := m.Layout.factored()
	for i, j := range columns {
		x[j] = sums[i]
	}
	copy(r, sums[len(columns):])
	return x, r
}

// factor fills in what a view with a factor holds: the predictor's columns of R,
// triangularised, and their products.
func (v *View) factor(m *Moments, at []int, mix []float64) {
	all := m.Layout.factored()
	from := m.R.RawTriangular()
	q := len(at)
	n := q + 1
	rows := make([]float64, from.N*n)
	place := make([]int, n) // of the view's columns in R
	for i, a := range at {
		place[i], _ = slices.BinarySearch(all, a)
	}
	place[q] = len(all) // of the last response that counts
	for k, c := range mix {
		if c != 0 {
			place[q] = len(all) + k
		}
	}
	head := 0 // R's rows below the diagonal of the selection
	for i, c := range place {
		head = max(head, c-i)
		for l := range c + 1 {
			rows[l*n+i] = from.Data[l*from.Stride+c]
		}
	}
	for l := range place[q] + 1 {
		rows[l*n+q] = 0
		for k, c := range mix {
			if c != 0 && len(all)+k >= l {
				rows[l*n+q] += c * from.Data[l*from.Stride+len(all)+k]
			}
		}
	}
	v.R = triangle(n)
	r := v.R.RawTriangular().Data
	if head == 0 {
		for i := range n {
			copy(r[i*n+i:(i+1)*n], rows[i*n+i:])
		}
	} else {
		householder.Stack(r, n, rows, n, from.N, head, new(householder.Work))
	}
	products, xx := make([]float64, n*n), v.XX.(*mat.SymDense)
	kernel.AddGram(products, n, r, n, n, n, nil)
	for i := range q {
		v.XR[i] = products[i*n+q]
		for j := i; j < q; j++ {
			xx.SetSym(i, j, products[i*n+j])
		}
	}
	v.RR = products[n*n-1]
}

// RawFactor is the factor of the uncentred [X z], for models without an
// intercept; nil without factors.
func (v View) RawFactor() *mat.TriDense {
	if v.R == nil {
		return nil
	}
	r := cloneTri(v.R)
	row := append(slices.Clone(v.Mean), v.MeanR)
	floats.Scale(math.Sqrt(v.SumW), row)
	householder.Stack(r.RawTriangular().Data, len(row), row, len(row), 1, 1, new(householder.Work))
	return r
}
