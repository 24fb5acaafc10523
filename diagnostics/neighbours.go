package diagnostics

import (
	"cmp"
	"math"
	"slices"
)

// nearest is the number of neighbours of a row that count in two or more
// features.
const nearest = 3

// neighbours pairs rows that are next to each other: in order of a single
// feature; the three nearest in several, each scaled to standard deviation 1.
func neighbours(x [][]float64) [][2]int {
	n := len(x)
	if len(x[0]) == 1 {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a][0], x[b][0]) })
		pairs := make([][2]int, n-1)
		for i := range pairs {
			pairs[i] = [2]int{order[i], order[i+1]}
		}
		return pairs
	}
	scale := inverseDeviations(x)
	var pairs [][2]int
	for i := range x {
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
