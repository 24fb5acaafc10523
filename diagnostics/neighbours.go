package diagnostics

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// nearest is the number of neighbours of a row that count in two or more
// features.
const nearest = 3

// neighbours are the pairs of rows that are next to each other. nil: each row and the
// next one.
type neighbours [][2]int

// differences is the mean of (e_i - e_j)^2/2 over the pairs.
func (n neighbours) differences(e []float64) float64 {
	if n == nil {
		return successive(e)
	}
	var sum float64
	for _, p := range n {
		d := e[p[0]] - e[p[1]]
		sum += d * d / 2
	}
	return sum / float64(len(n))
}

// successive is the mean of (e_i - e_i+1)^2/2, in two sums: an addition need not wait
// for the one before.
func successive(e []float64) float64 {
	var even, odd float64
	for i := 0; i+2 < len(e); i += 2 {
		a, b := e[i]-e[i+1], e[i+1]-e[i+2]
		even += a * a
		odd += b * b
	}
	if len(e)%2 == 0 {
		d := e[len(e)-2] - e[len(e)-1]
		even += d * d
	}
	return (even + odd) / 2 / float64(len(e)-1)
}

// inOrderOf gathers e in the order of x; ties keep their order.
func inOrderOf(x, e []float64) []float64 {
	type row struct {
		x  float64
		at int
	}
	rows := make([]row, len(x))
	for i, v := range x {
		rows[i] = row{v, i}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.x, b.x); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	out := make([]float64, len(e))
	for i, r := range rows {
		out[i] = e[r.at]
	}
	return out
}

// nearestRows pairs every row with the three nearest in several features, each scaled
// to standard deviation 1; not all of them if ctx is done.
func nearestRows(ctx context.Context, x [][]float64) neighbours {
	scale := inverseDeviations(x)
	var pairs neighbours
	for i := range x {
		if ctx.Err() != nil {
			break
		}
		best := make([]int, 0, nearest+1)
		distance := make([]float64, 0, nearest+1)
		for j := range x {
			if i == j {
				continue
			}
			var d float64
			for l, s := range scale {
				v := (x[i][l] - x[j][l]) * s
				d += v * v
			}
			if len(best) == nearest && d >= distance[nearest-1] {
				continue
			}
			at, _ := slices.BinarySearch(distance, d)
			best, distance = slices.Insert(best, at, j), slices.Insert(distance, at, d)
			if len(best) > nearest {
				best, distance = best[:nearest], distance[:nearest]
			}
		}
		for _, j := range best {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return pairs
}

// inverseDeviations is 1/sd of each feature, 0 for a constant one.
func inverseDeviations(x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	for l := range out {
		var mean, square float64
		for i := range x {
			mean += x[i][l] / float64(len(x))
		}
		for i := range x {
			d := x[i][l] - mean
			square += d * d / float64(len(x))
		}
		if square > 0 {
			out[l] = 1 / math.Sqrt(square)
		}
	}
	return out
}

func rootWeight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return math.Sqrt(w[i])
}
