package basis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// Subspaces are the products of some of the margins, none of a by-term: where a margin
// contains the constant, sum_j c_j B_j = 1, summing it out with c leaves a function of the
// others. That margins of ti are centred is in the block, not in these columns.
func (t *TensorTerm) Subspaces() []decompose.Subspace {
	if t.by.column != "" {
		return nil
	}
	ones := make([][]float64, len(t.margins))
	for i := range t.margins {
		ones[i] = t.margins[i].one()
	}
	var out []decompose.Subspace
	for kept := 1; kept < 1<<len(t.margins)-1; kept++ { // a bit for each margin
		to, columns := mat.NewDense(1, 1, []float64{1}), []string(nil)
		for i := range t.margins {
			var factor mat.Matrix
			switch {
			case kept>>i&1 == 1:
				factor = identity(t.margins[i].dim())
				columns = append(columns, t.margins[i].columns...)
			case ones[i] != nil:
				factor = mat.NewDense(len(ones[i]), 1, ones[i])
			default:
				to = nil
			}
			if to == nil {
				break
			}
			next := new(mat.Dense)
			next.Kronecker(to, factor)
			to = next
		}
		if to != nil {
			out = append(out, decompose.Subspace{Columns: columns, Map: to})
		}
	}
	return out
}

func identity(n int) *mat.DiagDense { return mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)) }

// one are coefficients of the constant function 1; nil: it is not found among the margin's
// functions. They are all 1, as of B-splines, of functions given by their values at knots
// and of levels, or those of a single constant column, as of thin plate splines.
func (m *margin) one() []float64 {
	d := m.dim()
	if m.levels != nil {
		return slices.Repeat([]float64{1}, d)
	}
	var rows [][]float64
	for _, at := range []float64{0.1, 1.7, -2.3} {
		row := make([]float64, d)
		if m.surface != nil {
			m.surface.Evaluate(row, d, slices.Repeat([]float64{at}, len(m.columns)))
		} else {
			values := make([]float64, m.spline.Width())
			first := m.spline.Row(values, at)
			for l, v := range values {
				row[(first+l)%d] = v
			}
		}
		rows = append(rows, row)
	}
	if sumToOne(rows) {
		return slices.Repeat([]float64{1}, d)
	}
	for j, v := range rows[0] {
		if v != 0 && rows[1][j] == v && rows[2][j] == v {
			c := make([]float64, d)
			c[j] = 1 / v
			return c
		}
	}
	return nil
}

func sumToOne(rows [][]float64) bool {
	for _, row := range rows {
		sum, size := 0.0, 0.0
		for _, v := range row {
			sum, size = sum+v, size+math.Abs(v)
		}
		if !(math.Abs(sum-1) <= 1e-9*size) { // far from its knots a spline's values are large
			return false
		}
	}
	return true
}

// Subspaces are the products of the numbers and some of the factors: sums over the levels of
// the others, of which none is left out by a contrast.
func (t *CellsTerm) Subspaces() []decompose.Subspace {
	var out []decompose.Subspace
	if len(t.factors) > maxFactors {
		return nil
	}
	for kept := 0; kept < 1<<len(t.factors)-1; kept++ {
		if kept == 0 && len(t.numbers) == 0 || t.losesContrast(kept) {
			continue
		}
		var columns []string
		for i, f := range t.factors {
			if kept>>i&1 == 1 {
				columns = append(columns, f.levels.column)
			}
		}
		for _, n := range t.numbers {
			if !slices.Contains(columns, n) {
				columns = append(columns, n)
			}
		}
		out = append(out, decompose.Subspace{Columns: columns, Map: t.sumOver(kept)})
	}
	return out
}

// losesContrast tells whether a factor that is summed over leaves out its first level.
func (t *CellsTerm) losesContrast(kept int) bool {
	for i, f := range t.factors {
		if kept>>i&1 == 0 && f.contrast {
			return true
		}
	}
	return false
}

// sumOver maps cells to those of the kept factors, in order of appearance.
func (t *CellsTerm) sumOver(kept int) *mat.Dense {
	number, to := map[string]int{}, make([]int, len(t.cells))
	for j, cell := range t.cells {
		var part []int32
		for i, level := range cell {
			if kept>>i&1 == 1 {
				part = append(part, level)
			}
		}
		key := string(cellKey(nil, part))
		at, ok := number[key]
		if !ok {
			at = len(number)
			number[key] = at
		}
		to[j] = at
	}
	out := mat.NewDense(len(t.cells), len(number), nil)
	for j, at := range to {
		out.Set(j, at, 1)
	}
	return out
}

// Subspaces are the smooths of the column alone: the same one in all levels.
func (t *FactorSmoothTerm) Subspaces() []decompose.Subspace {
	k := t.basis.Dim()
	to := mat.NewDense(t.Dim(), k, nil)
	for l := range t.levels.names {
		for j := range k {
			to.Set(l*k+j, j, 1)
		}
	}
	return []decompose.Subspace{{Columns: []string{t.column}, Map: to}}
}
