package interaction

import (
	"cmp"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// candidates are the pairs for exact products: those chosen before, and the best by the
// tables, which are of predictor k alone. nil: no pair that passes the test of all is new. In the first round
// there may be no pair: functions of single columns are looked at all the same.
func (v *Ranking) candidates(r *decompose.Result, k int, t *tables, f *finding) *look {
	var chosen, known [][2]int
	if f != nil {
		for _, s := range f.steps {
			chosen = append(chosen, s.pair)
		}
	}
	var scores []score
	var pairs [][2]int
	at, tested := 0, 0
	for i := range v.scales {
		for j := i + 1; j < len(v.scales); j++ {
			pair := [2]int{i, j}
			switch {
			case together(&r.Predictors[k], v.scales[i].name, v.scales[j].name):
				known = append(known, pair)
			case slices.Contains(chosen, pair):
				tested++
			default:
				tested++
				s := tableScore(t.weight[at:], t.score[0][at:], t.noise[0][at:], t.squared(0)[at:], v.inflation(r, k, f), v.scales[i], v.scales[j])
				if s.df > 0 && s.gain > 0 && s.p < level {
					s.pair = len(pairs)
					scores, pairs = append(scores, s), append(pairs, pair)
				}
			}
			at += cells
		}
	}
	passing := 0
	for _, s := range scores {
		if s.p*float64(tested) < level {
			passing++
		}
	}
	if passing == 0 {
		scores = nil
	}
	slices.SortStableFunc(scores, func(a, b score) int { return cmp.Compare(b.gain, a.gain) })
	limit, width := most(r), v.productsOf(chosen)
	added := 0
	for _, s := range scores {
		width += v.productsOf(pairs[s.pair : s.pair+1])
		if len(chosen) > 0 && (len(chosen) >= limit || width > min(maxProducts, v.rows/4)) {
			break
		}
		chosen = append(chosen, pairs[s.pair])
		added++
	}
	if added == 0 && f != nil {
		return nil
	}
	known = known[:min(len(known), maxCandidates)]
	leftOver := passing > added && scores[min(added, len(scores)-1)].gain > worthRound*t.squares[0]
	single, degree := v.singles(chosen, t)
	return &look{newFunctions(v.scales, single, degree, known, chosen), tested, leftOver}
}

// most is how many pairs exact products have, of one predictor.
func most(r *decompose.Result) int { return max(6, maxCandidates/len(r.Predictors)) }

// productsOf counts the functions of the pairs.
func (v *Ranking) productsOf(pairs [][2]int) int {
	n := 0
	for _, p := range pairs {
		n += v.scales[p[0]].width(degrees) * v.scales[p[1]].width(degrees)
	}
	return n
}

// together tells whether a term of the predictor is of both columns.
func together(d *decompose.Predictor, a, b string) bool {
	return slices.ContainsFunc(d.Terms, func(t decompose.TermResult) bool {
		return slices.Contains(t.Features, a) && slices.Contains(t.Features, b)
	})
}

// singles are the columns whose own functions are taken out of the pairs', and up to which
// degree: all, or of very many, or on few rows, those of the pairs. Without pairs they are those
// of which the remainder's means by bins say most.
func (v *Ranking) singles(pairs [][2]int, t *tables) (of []int, degree int) {
	var all, some []int
	for j := range v.scales {
		all = append(all, j)
		if slices.ContainsFunc(pairs, func(p [2]int) bool { return p[0] == j || p[1] == j }) {
			some = append(some, j)
		}
	}
	most := min(maxSingles, v.rows/8)
	for _, of := range [][]int{all, some} {
		for degree := maxSingleDegree; degree >= minSingleDegree && len(of) > 0; degree-- {
			if v.width(of, degree) <= most {
				return of, degree
			}
		}
	}
	if len(pairs) > 0 {
		return some, degrees
	}
	told := make([]float64, len(all))
	for j := range all {
		told[j] = t.between(j, len(all))
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(told[b], told[a]) })
	for v.width(all, minSingleDegree) > most {
		all = all[:len(all)-1]
	}
	slices.Sort(all)
	return all, minSingleDegree
}

// width counts the functions of these columns alone.
func (v *Ranking) width(of []int, degree int) int {
	n := 0
	for _, j := range of {
		n += v.scales[j].singleWidth(degree)
	}
	return n
}

// Memory is about how many bytes a Ranking of so many columns and predictors holds, held
// being how many chunks of rows there are at a time, at work or merged with others.
func Memory(columns, predictors int, held int64) int64 {
	pairs := columns * (columns - 1) / 2
	tables := min(pairs*(1+2*predictors), maxSums) * cells
	width := 1 + min(maxSingleDegree*columns, maxSingles) + min(degrees*degrees*pairs, maxProducts)
	return 8 * (held*int64(tables) + int64(keptRows*(columns+predictors+1)) + int64(2*width*width))
}
