package interaction

import (
	"cmp"
	"math"
	"slices"
)

// worstRows is how many rows of the largest remainder are named.
const worstRows = 10

// worstRow is a row of a large remainder.
type worstRow struct {
	row            int64
	r, eta, weight float64
	codes          []uint8 // its bins
	id             string
}

// worst are the rows of the largest remainder, those first in the data first among equals.
type worst []worstRow

// worstOf are those among the rows of a chunk.
func worstOf(r, eta, w []float64, row func(i int) int64, id func(i int) string, codes [][]uint8) worst {
	var found worst
	least := -1.0 // that a row must exceed
	for i, v := range r {
		size := math.Abs(v)
		if !(size > least) || size == 0 || w != nil && !(w[i] > 0) {
			continue
		}
		one := worstRow{row: row(i), r: v, eta: eta[i], weight: 1, id: id(i)}
		if w != nil {
			one.weight = w[i]
		}
		for _, c := range codes {
			one.codes = append(one.codes, c[i])
		}
		if found = found.with(worst{one}); len(found) == worstRows {
			least = math.Abs(found[worstRows-1].r)
		}
	}
	return found
}

// with are the worst of both.
func (a worst) with(b worst) worst {
	a = append(a, b...)
	slices.SortFunc(a, bySize)
	return a[:min(len(a), worstRows)]
}

// bySize has the largest remainder first, among equals the first row.
func bySize(x, y worstRow) int {
	return cmp.Or(cmp.Compare(math.Abs(y.r), math.Abs(x.r)), cmp.Compare(x.row, y.row))
}

// repeated is the place of the first of a whose row has a place before it; -1: there is none.
func (a worst) repeated() int {
	for i, x := range a {
		if slices.ContainsFunc(a[:i], func(y worstRow) bool { return y.row == x.row }) {
			return i
		}
	}
	return -1
}
