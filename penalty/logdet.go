package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// addLogDetS adds log|sum_j lambda_j S_j|_+ of one block to the value, and its
// derivatives in the log lambdas to grad and hess (indexed by system.penalties;
// nil if not wanted).
//
// One penalty is closed form. Several are stacked as E = [sqrt(lambda_j) root_j]
// and factored E P = Q R with rows sorted by size and columns pivoted, which is
// backward stable row by row (Cox and Higham 1998), so that a penalty with a
// small lambda is not drowned by one with a large lambda. Then log|E'E| =
// 2 log|R|, and with Q_j the rows of Q that belong to penalty j,
//
//	d_j    = |Q_j|^2 = lambda_j tr(S^- S_j),
//	d_jk   = delta_jk d_j - |Q_j Q_k'|^2.
func (s *system) addLogDetS(b *block, rho []float64, grad []float64, hess *mat.SymDense) float64 {
	if len(b.penalties) == 1 {
		j := b.penalties[0]
		pen := &s.penalties[j]
		v := float64(pen.rank) * rho[j]
		for _, r := range pen.diag {
			v += 2 * math.Log(r)
		}
		if grad != nil {
			grad[j] += float64(pen.rank)
		}
		return v
	}
	type row struct {
		penalty int
		values  []float64
		norm    float64
	}
	var rows []row
	for _, j := range b.penalties {
		pen := &s.penalties[j]
		f := math.Exp(rho[j] / 2)
		for i := range pen.rank {
			r := row{penalty: j, values: make([]float64, b.dim)}
			for c, v := range pen.root.RawRowView(i) {
				r.values[c] = f * v
				r.norm = max(r.norm, math.Abs(r.values[c]))
			}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case a.norm > b.norm:
			return -1
		case a.norm < b.norm:
			return 1
		}
		return 0
	})
	e := blas64.General{Rows: len(rows), Cols: b.dim, Stride: b.dim, Data: make([]float64, 0, len(rows)*b.dim)}
	for _, r := range rows {
		e.Data = append(e.Data, r.values...)
	}
	pivot := make([]int, b.dim)
	for i := range pivot {
		pivot[i] = -1
	}
	tau := make([]float64, b.dim)
	work := make([]float64, 1)
	lapack64.Geqp3(e, pivot, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqp3(e, pivot, tau, work, len(work))
	v := 0.0
	for i := range b.dim {
		v += 2 * math.Log(math.Abs(e.Data[i*e.Stride+i]))
	}
	if grad == nil {
		return v
	}
	lapack64.Orgqr(e, tau, work[:1], -1)
	work = make([]float64, max(int(work[0]), b.dim))
	lapack64.Orgqr(e, tau, work, len(work))
	q := mat.NewDense(e.Rows, e.Cols, e.Data)
	part := make(map[int]*mat.Dense, len(b.penalties)) // read by index only
	for _, j := range b.penalties {
		var mine []int
		for i, r := range rows {
			if r.penalty == j {
				mine = append(mine, i)
			}
		}
		part[j] = pick(q, mine, nil)
	}
	var product mat.Dense
	for a, j := range b.penalties {
		dj := squaredNorm(part[j])
		grad[j] += dj
		for _, k := range b.penalties[a:] {
			product.Reset()
			product.Mul(part[j], part[k].T())
			h := -squaredNorm(&product)
			if j == k {
				h += dj
			}
			hess.SetSym(j, k, hess.At(j, k)+h)
		}
	}
	return v
}

// squaredNorm is the squared Frobenius norm.
func squaredNorm(x *mat.Dense) float64 {
	sum := 0.0
	n, _ := x.Dims()
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += v * v
		}
	}
	return sum
}
