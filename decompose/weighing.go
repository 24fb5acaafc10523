package decompose

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// weighing finds the weights s_i of one predictor's rows, for one worker.
type weighing struct {
	of        *sandwichOf
	form      *design.QuadraticWork // nil: the leverages are those of leader, who has just met the same rows
	leader    *weighing
	influence *influenceWork // nil: nothing is split
	h         []float64
	pinned    []int64 // rows of high leverage by term
	ofMeans   []meansTimes
}

// leverages are those of n rows with the columns x, but for their weights, by A^-1. Predictors that share it, as classes
// do, meet the same rows one after the other: the first one finds them for all.
func (w *weighing) leverages(n int, x []design.Columns) error {
	if w.leader != nil {
		w.h = w.leader.h
		return nil
	}
	w.h = sized(w.h, n)
	if err := w.form.Rows(w.h, x); err != nil { // phi times those of A^-1
		return err
	}
	floats.Scale(1/w.of.phi, w.h)
	return nil
}

// leverage is that of row i, of weight wi.
func (w *weighing) leverage(i int, wi float64) float64 {
	return max(wi*(w.of.constant+w.h[i]), 0)
}

// weigh sets s to the weights of rows with the columns x, whose residuals and weights are with.
func (w *weighing) weigh(s [][]float64, x, again []design.Columns, with *mat.Dense) error {
	of, root := w.of, math.Sqrt(w.of.unit)
	n, numbers := with.Dims()
	if err := w.leverages(n, x); err != nil {
		return err
	}
	if w.influence != nil {
		if err := w.influence.rows(of, n, x, again); err != nil {
			return err
		}
	}
	rows := with.RawMatrix()
	for i := range n {
		row := rows.Data[i*rows.Stride:][:numbers]
		wi := row[numbers-1]
		h := w.leverage(i, wi)
		noise, least := 0.0, 0.0
		switch scale := wi * of.phi * of.unit; {
		case h > highLeverage:
			least = scale
			w.pin(x, i)
		case h > fewRows:
			noise = scale * w.untold(h, x, i, wi)
		}
		left := 1 - h
		if w.influence == nil {
			sum := 0.0
			if left > 1e-9 { // nothing but rounding is left of the others
				v := wi * row[0] / left * root
				sum = v * v
			}
			s[0][i] = max(sum+noise, least)
			continue
		}
		for _, products := range s {
			products[i] = 0
		}
		each := 1 + len(of.splits)
		for m := range of.networks {
			first, own := 0.0, row[m*each:][:each]
			if left > 1e-9 {
				first = wi * own[0] / left * root
			}
			w.influence.row(of, i, wi, math.Copysign(math.Sqrt(max(first*first+noise, least)), first), own[1:])
			y := w.influence.y
			for b := range y {
				for a := range b + 1 {
					s[moments.Pair(a, b)][i] += y[a] * y[b] / float64(of.networks)
				}
			}
		}
	}
	return nil
}

// pins counts the rows with the columns x that terms pin.
func (w *weighing) pins(x []design.Columns, n int, weights []float64) error {
	if err := w.leverages(n, x); err != nil {
		return err
	}
	for i := range n {
		if w.leverage(i, weight(weights, i)) > highLeverage {
			w.pin(x, i)
		}
	}
	return nil
}

// pin notes the terms that row i of x pins: those with a quarter of its leverage, which
// is x_j'[A^-1 x]_j of term j (all times phi).
func (w *weighing) pin(columns []design.Columns, i int) {
	s := w.of
	if w.ofMeans == nil {
		w.ofMeans = s.timesMeans()
	}
	x, at := make([]float64, len(s.centre)), 0
	for _, c := range columns {
		_, d := c.Dims()
		design.CopyRow(x[at:at+d], c, i)
		at += d
	}
	var entries []int
	for a, v := range x {
		if v != 0 {
			entries = append(entries, a)
		}
	}
	at = 0
	for j, d := range s.frame.Dims { // with m_j the means of its columns (x_j - m_j)'[C(x - m)]_j, in the entries of x alone
		of, share := w.ofMeans[j], 0.0
		for _, a := range entries {
			share -= x[a] * of.product[a]
			if a >= at && a < at+d {
				for _, b := range entries {
					share += x[a] * x[b] * s.cov.At(a, b)
				}
				share -= x[a] * w.ofMeans[len(w.ofMeans)-1].product[a]
			}
		}
		if share+of.shift > w.of.phi*w.h[i]/4 {
			w.pinned[j]++
		}
		at += d
	}
}

// meansTimes is C m_j, m_j being the point of one term's columns and 0 elsewhere, and m_j'C m.
type meansTimes struct {
	product []float64
	shift   float64
}

// timesMeans are those of each term and, last, of all.
func (s *sandwichOf) timesMeans() (out []meansTimes) {
	left, at := s.frame.Left(), 0
	for _, d := range s.frame.Dims {
		own := make([]float64, len(left))
		copy(own[at:at+d], left[at:])
		product := linalg.MulVec(s.cov, own)
		out = append(out, meansTimes{product, floats.Dot(product, left)})
		at += d
	}
	product := linalg.MulVec(s.cov, left)
	return append(out, meansTimes{product, floats.Dot(product, left)})
}

// untold is the part of phi/w_i that is added to the summand of a row with leverage h whose level has few rows:
// what is left of these tells little of their variance, and HC3 alone is too narrow (docs/uncertainty.md).
func (w *weighing) untold(h float64, x []design.Columns, i int, wi float64) float64 {
	return min(max(3*(min(h, w.ofLevel(x, i, wi))-fewRows), 0), 1)
}

// ofLevel is the share of row i, of weight wi, in the weight of its level: the largest among factors of the columns x.
func (w *weighing) ofLevel(x []design.Columns, i int, wi float64) float64 {
	largest, at := 0.0, 0
	for _, c := range x {
		_, d := c.Dims()
		if codes, ok := c.(*design.Codes); ok && codes.Value == nil {
			means := w.of.means[at : at+d]
			share := 0.0
			if code := codes.Code[i]; code >= 0 {
				share = means[code]
			} else { // the level without a column
				share = 1 - floats.Sum(means)
			}
			largest = max(largest, wi/(w.of.sumW*max(share, 0)))
		}
		at += d
	}
	return largest
}
