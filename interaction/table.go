package interaction

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
	t := &tables{weight: make([]float64, pairs*cells), squares: make([]float64, predictors), fourths: make([]float64, predictors)}
	for range predictors {
		t.score, t.noise = append(t.score, make([]float64, pairs*cells)), append(t.noise, make([]float64, pairs*cells))
		if weighted {
			t.square = append(t.square, make([]float64, pairs*cells))
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
// predictor.
func (t *tables) rows(codes [][]uint8, w []float64, r [][]float64) {
	n := len(codes[0])
	wr, noise, square := make([]float64, n), make([]float64, n), make([]float64, n)
	t.addWeights(codes, w)
	for k, residual := range r {
		for i, v := range residual {
			wi := 1.0
			if w != nil {
				wi = w[i]
			}
			wr[i], noise[i], square[i] = wi*v, wi*wi*v*v, wi*v*v
			t.squares[k] += square[i]
			t.fourths[k] += square[i] * v * v
		}
		t.addScores(k, codes, wr, noise)
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

func (t *tables) addWeights(codes [][]uint8, w []float64) {
	if w == nil {
		t.sumWeight += float64(len(codes[0]))
		eachPair(codes, func(at int, a, b []uint8) {
			c := (*[cells]float64)(t.weight[at:])
			for i, bin := range a {
				c[int(bin)*stride+int(b[i])]++
			}
		})
		return
	}
	for _, v := range w {
		t.sumWeight += v
	}
	eachPair(codes, func(at int, a, b []uint8) {
		c := (*[cells]float64)(t.weight[at:])
		for i, bin := range a {
			c[int(bin)*stride+int(b[i])] += w[i]
		}
	})
}

func (t *tables) addScores(k int, codes [][]uint8, wr, noise []float64) {
	eachPair(codes, func(at int, a, b []uint8) {
		r, v := (*[cells]float64)(t.score[k][at:]), (*[cells]float64)(t.noise[k][at:])
		for i, bin := range a {
			c := int(bin)*stride + int(b[i])
			r[c] += wr[i]
			v[c] += noise[i]
		}
	})
}
