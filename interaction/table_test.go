package interaction

import (
	"math"
	"slices"
	"testing"
)

// Each pair of columns is in one three.
func TestThreesCoverEachPairOnce(t *testing.T) {
	for columns := range 30 {
		covered := make([]int, columns*(columns-1)/2)
		for _, c := range threesOf(columns) {
			for p, at := range c.at {
				if at < 0 {
					continue
				}
				first, second := c.columns[p/2], c.columns[1+(p+1)/2]
				pair := first*(2*columns-first-1)/2 + second - first - 1
				if at != pair*cells || first >= second {
					t.Errorf("%d columns: %v has the pair (%d, %d) at %d", columns, c, first, second, at)
				}
				covered[pair]++
			}
		}
		for pair, n := range covered {
			if n != 1 {
				t.Errorf("%d columns: pair %d is in %d threes", columns, pair, n)
			}
		}
	}
}

// Tables are those of a loop over rows and pairs, but for rounding, also where rows come in parts.
func TestTablesAreSumsOverRows(t *testing.T) {
	const rows, predictors = 300, 2
	u := uniform(3)
	for _, columns := range []int{2, 3, 5, 6, 10} {
		for _, weighted := range []bool{false, true} {
			codes, r := make([][]uint8, columns), make([][]float64, predictors)
			for j := range codes {
				for range rows {
					codes[j] = append(codes[j], uint8(u.next()*stride))
				}
			}
			var w []float64
			for range rows {
				for k := range r {
					r[k] = append(r[k], u.normal())
				}
				if weighted {
					w = append(w, u.next())
				}
			}
			pairs := columns * (columns - 1) / 2
			got, want := newTables(pairs, predictors, weighted), newTables(pairs, predictors, weighted)
			for _, part := range [][2]int{{0, 100}, {100, rows}} {
				lo, hi := part[0], part[1]
				var some []float64
				if weighted {
					some = w[lo:hi]
				}
				got.rows(cut(codes, lo, hi), some, cut(r, lo, hi), slices.Repeat([]sum{{math.NaN(), 1, 1}}, hi-lo))
			}
			for i := range rows {
				wi := 1.0
				if weighted {
					wi = w[i]
				}
				for k := range r {
					v := r[k][i]
					eachPair(codes, func(at int, a, b []uint8) {
						c := at + int(a[i])*stride + int(b[i])
						if k == 0 {
							want.weight[c] += wi
						}
						want.score[k][c] += float64(wi * v)
						want.noise[k][c] += float64(wi * wi * v * v)
						if weighted {
							want.square[k][c] += float64(wi * v * v)
						}
					})
				}
			}
			same := sumsNear(got.weight, want.weight)
			for k := range r {
				same = same && sumsNear(got.score[k], want.score[k]) && sumsNear(got.noise[k], want.noise[k])
				same = same && (!weighted || slices.Equal(got.square[k], want.square[k]))
			}
			if !same {
				t.Errorf("%d columns, weighted %v: the tables are not the sums over rows", columns, weighted)
			}
		}
	}
}

// sumsNear tells whether these are sums of the same numbers in another order.
func sumsNear(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-13 })
}

func cut[E any](columns [][]E, lo, hi int) (out [][]E) {
	for _, c := range columns {
		out = append(out, c[lo:hi])
	}
	return out
}
