package design

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// manyLevels is a form of which a basis e has many columns, as the levels of a factor, beside others, s. With C_ee a
// linalg.Structured it takes room for as many numbers as the rows C_es have:
//
//	(x - m)'C(x - m) = (s - m_s)'C_ss(s - m_s) + 2 (e - m_e)'C_es(s - m_s) + (e - m_e)'C_ee(e - m_e).
type manyLevels struct {
	basis  int
	own    *linalg.Structured // C_ee
	diag   []float64          // of C_ee
	across *mat.Dense         // C_es; nil: there is nothing else
	others *Quadratic
	starts []int
	atMean []float64 // C_es m_s + C_ee m_e, by column of e
	linear []float64 // C_se m_e
	shift  float64   // 2 m_e'C_es m_s + m_e'C_ee m_e
}

// withMany makes q the form of c, the diagonal of which is of one basis; the largest one, if all of it is 0.
func (q *Quadratic) withMany(c *linalg.Structured) error {
	w := &manyLevels{basis: -1}
	for b, d := range q.dims {
		if lo := q.starts[b]; zeros(c.D[lo : lo+d]) {
			continue
		}
		if w.basis >= 0 {
			return fmt.Errorf("design: a quadratic form with a diagonal beside few columns, of two bases")
		}
		w.basis = b
	}
	if w.basis < 0 {
		w.basis = slices.Index(q.dims, slices.Max(q.dims))
	}
	var others, dims []int
	for b, d := range q.dims {
		if b == w.basis {
			continue
		}
		dims, w.starts = append(dims, d), append(w.starts, len(others))
		for j := range d {
			others = append(others, q.starts[b]+j)
		}
	}
	lo, hi := q.starts[w.basis], q.starts[w.basis+1]
	own := linalg.Range(c, lo, hi)
	structured, ok := own.(*linalg.Structured)
	if !ok {
		return fmt.Errorf("design: a quadratic form of a basis of %d columns has no structure", hi-lo)
	}
	w.own, w.diag = structured, linalg.Diagonal(structured)
	mean := q.mean[lo:hi]
	w.atMean = linalg.MulVec(structured, mean)
	w.shift = kernel.Dot(w.atMean, mean)
	if len(others) > 0 {
		columns := c.Block(nil, others)
		w.across = columns.Slice(lo, hi, 0, len(others)).(*mat.Dense)
		rest, meanOfRest := mat.NewSymDense(len(others), nil), make([]float64, len(others))
		for a, i := range others {
			meanOfRest[a] = q.mean[i]
			for b := a; b < len(others); b++ {
				rest.SetSym(a, b, columns.At(i, b))
			}
		}
		var err error
		if w.others, err = NewQuadraticIn(dims, rest, meanOfRest); err != nil {
			return err
		}
		w.linear = make([]float64, len(others))
		for i, m := range mean {
			row := w.across.RawRowView(i)
			kernel.Axpy(w.linear, row, m)
			w.atMean[i] += kernel.Dot(row, meanOfRest)
		}
		w.shift += 2 * kernel.Dot(w.linear, meanOfRest)
	}
	q.many = w
	return nil
}

// manyWork is memory of one goroutine for such a form.
type manyWork struct {
	others *QuadraticWork
	x      []Columns
	along  []float64 // linear's of rows
	first  []int     // entry of each row in e, and the end
	column []int
	value  []float64
	row    []float64
}

// rows sets dst to the form at the rows of x.
func (k *manyWork) rows(w *manyLevels, dst []float64, x []Columns) error {
	n := len(dst)
	clear(dst)
	k.x = append(append(k.x[:0], x[:w.basis]...), x[w.basis+1:]...)
	if w.others != nil {
		if k.others == nil {
			k.others = w.others.Work()
		}
		if err := k.others.Rows(dst, k.x); err != nil {
			return err
		}
		k.along = grown(k.along, n)
		for b, c := range k.x {
			_, d := c.Dims()
			if err := MulVec(k.along, c, w.linear[w.starts[b]:][:d]); err != nil {
				return err
			}
			kernel.Axpy(dst, k.along, -2)
		}
	}
	if err := k.entries(x[w.basis], n); err != nil {
		return err
	}
	for i := range dst {
		lo, hi := k.first[i], k.first[i+1]
		dst[i] += w.shift
		for l, j := range k.column[lo:hi] {
			v := k.value[lo+l]
			dst[i] += v * (v*w.diag[j] - 2*w.atMean[j])
			for m := lo; m < lo+l; m++ {
				dst[i] += 2 * v * k.value[m] * w.own.At(j, k.column[m])
			}
		}
	}
	for b, c := range k.x {
		k.addAcross(dst, w, c, w.starts[b])
	}
	return nil
}

// entries lists those of c by row.
func (k *manyWork) entries(c Columns, n int) error {
	k.first, k.column, k.value = append(k.first[:0], 0), k.column[:0], k.value[:0]
	if codes, ok := c.(*Codes); ok {
		for i, j := range codes.Code {
			if j >= 0 {
				k.column, k.value = append(k.column, int(j)), append(k.value, weight(codes.Value, i))
			}
			k.first = append(k.first, len(k.column))
		}
		return nil
	}
	_, d := c.Dims()
	k.row = grown(k.row, d)
	for i := range n {
		CopyRow(k.row, c, i)
		for j, v := range k.row {
			if v != 0 {
				k.column, k.value = append(k.column, j), append(k.value, v)
			}
		}
		k.first = append(k.first, len(k.column))
	}
	return nil
}

// addAcross adds 2 e'C_es s of the columns c, which begin at start among the others.
func (k *manyWork) addAcross(dst []float64, w *manyLevels, c Columns, start int) {
	_, d := c.Dims()
	k.row = grown(k.row, max(d, len(k.row)))
	for i := range dst {
		for l := k.first[i]; l < k.first[i+1]; l++ {
			from := w.across.RawRowView(k.column[l])[start : start+d]
			sum := 0.0
			switch c := c.(type) {
			case *Banded:
				if c.K == 4 && !c.Cyclic {
					sum = dot4((*[4]float64)(from[c.First[i]:]), (*[4]float64)(c.Value[4*i:]))
					break
				}
				CopyRow(k.row[:d], c, i)
				sum = kernel.Dot(from, k.row[:d])
			case Dense:
				sum = kernel.Dot(from, c.RawRowView(i))
			case *Codes:
				if j := c.Code[i]; j >= 0 {
					sum = from[j] * weight(c.Value, i)
				}
			case *Sparse:
				sum = gathered(from, c.of(int32(i)), c.Value[i*c.K:][:c.K])
			default:
				CopyRow(k.row[:d], c, i)
				sum = kernel.Dot(from, k.row[:d])
			}
			dst[i] += 2 * k.value[l] * sum
		}
	}
}
