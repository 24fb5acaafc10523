package interaction

import "github.com/pho-go/pho/internal/base/kernel"

// cells is the size of a pair's table: bins of the first column times bins of the second,
// each with one for missing values.
const cells = stride * stride

// tables are the sums over rows of all pairs of columns (i < j, row by row of the triangle),
// each of them cells numbers: sum w and, of each predictor, sum w r, sum w^2 r^2 and
// sum w r^2.
type tables struct {
	weight    []float64
	score     [][]float64 // by predictor
	noise     [][]float64
	square    [][]float64 // nil: as noise, since all weights are 1
	squares   []float64   // sum w r^2 of each predictor
	fourths   []float64   // sum w r^4
	sumWeight float64
}

func newTables(pairs, predictors int, weighted bool) *tables {
	sums := func() []float64 { return kernel.Zeros[float64](pairs * cells) }
	t := &tables{weight: sums(), squares: make([]float64, predictors), fourths: make([]float64, predictors)}
	for range predictors {
		t.score, t.noise = append(t.score, sums()), append(t.noise, sums())
		if weighted {
			t.square = append(t.square, sums())
		}
	}
	return t
}

// tableShape is what tables that add up have in common.
type tableShape struct {
	pairs, predictors int
	weighted          bool
}

func (t *tables) shape() tableShape {
	return tableShape{len(t.weight) / cells, len(t.score), t.square != nil}
}

// squared is sum w r^2 of predictor k.
func (t *tables) squared(k int) []float64 {
	if t.square == nil {
		return t.noise[k]
	}
	return t.square[k]
}

// between is the first predictor's sum of squares between the bins of column j of so many, from the column's table
// beside a neighbour.
func (t *tables) between(j, columns int) float64 {
	i := max(0, j-1) // the pair (i, i+1) begins row i of the triangle
	at := cells * (i*columns - i*(i+1)/2)
	var weight, score [stride]float64
	for cell := range cells {
		bin := cell / stride
		if j > 0 {
			bin = cell % stride
		}
		weight[bin] += t.weight[at+cell]
		score[bin] += t.score[0][at+cell]
	}
	sum := 0.0
	for bin, w := range weight {
		if w > 0 {
			sum += score[bin] * score[bin] / w
		}
	}
	return sum
}

// each calls f on the numbers of t and the same ones of o.
func (t *tables) each(o *tables, f func(dst, src []float64)) {
	f(t.weight, o.weight)
	for k := range t.score {
		f(t.score[k], o.score[k])
		f(t.noise[k], o.noise[k])
		if t.square != nil {
			f(t.square[k], o.square[k])
		}
	}
	f(t.squares, o.squares)
	f(t.fourths, o.fourths)
}

// of are those of predictor k alone.
func (t *tables) of(k int) *tables {
	one := &tables{weight: t.weight, score: t.score[k : k+1], noise: t.noise[k : k+1], squares: t.squares[k : k+1], fourths: t.fourths[k : k+1], sumWeight: t.sumWeight}
	if t.square != nil {
		one.square = t.square[k : k+1]
	}
	return one
}

// add adds the sums of the rows that follow.
func (t *tables) add(o *tables) {
	t.each(o, func(dst, src []float64) {
		for i, v := range src {
			dst[i] += v
		}
	})
	t.sumWeight += o.sumWeight
}

// clear makes t the sums of no rows.
func (t *tables) clear() {
	t.each(t, func(dst, _ []float64) { clear(dst) })
	t.sumWeight = 0
}

// rows adds rows whose columns have these bins; w nil: ones. r holds the remainder of each
// predictor, and x is memory for a sum of each row.
func (t *tables) rows(codes [][]uint8, w []float64, r [][]float64, x []sum) {
	n, threes, square := len(codes[0]), threesOf(len(codes)), []float64(nil)
	if t.square != nil {
		square = make([]float64, n)
	}
	for k, residual := range r {
		for i, v := range residual {
			wi := 1.0
			if w != nil {
				wi = w[i]
			}
			one := float64(wi * v * v)
			x[i] = sum{wi, wi * v, wi * wi * v * v}
			if square != nil {
				square[i] = one
			}
			t.squares[k] += one
			t.fourths[k] += one * v * v
			if k == 0 {
				t.sumWeight += wi
			} else {
				x[i].weight = 0 // there already
			}
		}
		for _, c := range threes {
			t.addSums(k, c, codes, x)
		}
		if t.square != nil {
			eachPair(codes, func(at int, a, b []uint8) {
				s := t.square[k][at : at+cells]
				for i, bin := range a {
					s[int(bin)*stride+int(b[i])] += square[i]
				}
			})
		}
	}
}

// eachPair calls f with where a pair's table begins, and the bins of its columns.
func eachPair(codes [][]uint8, f func(at int, a, b []uint8)) {
	at := 0
	for i, a := range codes {
		for _, b := range codes[i+1:] {
			f(at, a, b[:len(a)])
			at += cells
		}
	}
}

// sum is what a row adds to a cell: w, w r and w^2 r^2.
type sum struct{ weight, score, noise float64 }
