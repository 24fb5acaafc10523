package decompose

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// weighing finds the weights s_i of one predictor's rows, for one worker.
type weighing struct {
	of     *sandwichOf
	form   *design.QuadraticWork
	h      []float64
	pinned []int64 // rows of high leverage by term
}

// weigh sets s to the weights of rows with the columns x, whose remainders and weights are with.
func (w *weighing) weigh(s []float64, x []design.Columns, with *mat.Dense) error {
	of, root := w.of, math.Sqrt(w.of.unit)
	w.h = sized(w.h, len(s))
	if err := w.form.Rows(w.h, x); err != nil { // phi times those of A^-1
		return err
	}
	rows := with.RawMatrix()
	for i, form := range w.h {
		row := rows.Data[i*rows.Stride:][:2]
		r, wi := row[0], row[1]
		h := max(wi*(of.constant+form/of.phi), 0)
		left := 1 - h
		sum := 0.0
		if left > 1e-9 { // nothing but rounding is left of the others
			v := wi * r / left * root
			sum = v * v
		}
		if h > highLeverage {
			sum = max(sum, wi*of.phi*of.unit)
			w.pin(x, i)
		}
		s[i] = sum
	}
	return nil
}

// pin notes the terms that row i of x pins: those with a quarter of its leverage, which
// is x_j'[A^-1 x]_j of term j (all times phi).
func (w *weighing) pin(columns []design.Columns, i int) {
	s := w.of
	x := mat.NewVecDense(len(s.centre), nil)
	at := 0
	for _, c := range columns {
		_, d := c.Dims()
		design.CopyRow(x.RawVector().Data[at:at+d], c, i)
		at += d
	}
	x.SubVec(x, mat.NewVecDense(len(s.centre), s.frame.Left()))
	var cx mat.VecDense
	cx.MulVec(s.cov, x)
	at = 0
	for j, d := range s.frame.Dims {
		if share := mat.Dot(x.SliceVec(at, at+d), cx.SliceVec(at, at+d)); share > w.h[i]/4 {
			w.pinned[j]++
		}
		at += d
	}
}
