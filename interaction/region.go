package interaction

import (
	"cmp"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

const (
	maxRegions  = 3
	regionRows  = 0.01 // share of the rows that a region has, at least
	regionShare = 0.03 // and of the remainder
	regionLift  = 1.5  // how many times its share of the rows its share of the remainder is, at least
	regionSigma = 6    // standard errors by which the latter exceeds the former, at least: there are many to choose from
	secondMore  = 1.3  // by how much a region of two columns beats those of one of them
)

// region is an interval of bins of one or of two columns.
type region struct {
	columns [2]int // the second is -1: of one column
	lo, hi  [2]int // bins, both included
	weight  float64
	square  float64
	excess  float64 // squares beyond those of as many average rows, in standard errors
}

// regions are where the mean square of the remainder is largest, rows named one by one
// left out: greedily, of columns that no earlier one is about. n is how many rows have a weight.
func (t *tables) regions(k int, scales []*scale, named worst, n int64) []decompose.Region {
	all := grounds{scales: scales, each: t.sumWeight / float64(n), weight: slices.Clone(t.weight), square: slices.Clone(t.squared(k)), sumWeight: t.sumWeight, squares: t.squares[k], fourths: t.fourths[k]}
	for _, r := range named {
		all.leaveOut(r)
	}
	if !(all.squares > 0) || !(all.sumWeight > 0) {
		return nil
	}
	found := all.candidates()
	var out []decompose.Region
	taken := make([]bool, len(scales))
	for _, r := range found {
		if r.square < regionShare*t.squares[k] || taken[r.columns[0]] || r.columns[1] >= 0 && taken[r.columns[1]] {
			continue
		}
		reg := decompose.Region{Rows: r.weight / t.sumWeight, Share: r.square / t.squares[k]}
		for s, j := range r.columns {
			if j >= 0 {
				reg.Where = append(reg.Where, scales[j].condition(r.lo[s], r.hi[s]))
				taken[j] = true
			}
		}
		if out = append(out, reg); len(out) == maxRegions {
			break
		}
	}
	return out
}

// grounds are the tables of one predictor without the rows that are named.
type grounds struct {
	scales                      []*scale
	weight, square              []float64
	sumWeight, squares, fourths float64
	each                        float64 // weight of an average row
}

// leaveOut takes a row out of all tables.
func (g *grounds) leaveOut(r worstRow) {
	one := r.weight * r.r * r.r
	at := 0
	for i, a := range r.codes {
		for _, b := range r.codes[i+1:] {
			c := at + int(a)*stride + int(b)
			g.weight[c] -= r.weight
			g.square[c] = max(0, g.square[c]-one)
			at += cells
		}
	}
	g.sumWeight -= r.weight
	g.squares -= one
	g.fourths -= one * r.r * r.r
}

// candidates are the regions that pass, the greatest excess first: the best interval of
// each column, and the best rectangle of each pair that beats those of its columns.
func (g *grounds) candidates() []region {
	best := make([]region, len(g.scales)) // of one column
	var found []region
	for j := 1; j < len(g.scales); j++ { // the pairs of the first column come first
		if j == 1 {
			best[0] = g.interval(0, 0, 0)
		}
		best[j] = g.interval((j-1)*cells, 1, j)
	}
	for _, r := range best {
		if r.excess > regionSigma {
			found = append(found, r)
		}
	}
	at := 0
	for i := range g.scales {
		for j := i + 1; j < len(g.scales); j++ {
			r := g.rectangle(at, i, j)
			if r.excess > regionSigma && r.excess > secondMore*max(best[i].excess, best[j].excess) {
				found = append(found, r)
			}
			at += cells
		}
	}
	slices.SortStableFunc(found, func(a, b region) int { return cmp.Compare(b.excess, a.excess) })
	return found
}

// interval is the best interval of column c, which is column s of the pair at.
func (g *grounds) interval(at, s, c int) region {
	var weight, square [bins]float64
	for a := range stride {
		for b := range stride {
			if n := []int{a, b}[s]; n < bins {
				weight[n] += g.weight[at+a*stride+b]
				square[n] += g.square[at+a*stride+b]
			}
		}
	}
	best := region{}
	for lo := range bins {
		w, q := 0.0, 0.0
		for hi := lo; hi < g.scales[c].reach(lo); hi++ {
			w, q = w+weight[hi], q+square[hi]
			if e := g.excess(w, q); e > best.excess {
				best = region{columns: [2]int{c, -1}, lo: [2]int{lo}, hi: [2]int{hi}, weight: w, square: q, excess: e}
			}
		}
	}
	return best
}

// rectangle is the best one of a pair's table, from sums over rectangles at the corner.
func (g *grounds) rectangle(at, i, j int) region {
	var weight, square [bins + 1][bins + 1]float64
	for a := range bins {
		for b := range bins {
			c := at + a*stride + b
			weight[a+1][b+1] = weight[a][b+1] + weight[a+1][b] - weight[a][b] + g.weight[c]
			square[a+1][b+1] = square[a][b+1] + square[a+1][b] - square[a][b] + g.square[c]
		}
	}
	best := region{}
	for a0 := range bins {
		for a1 := a0; a1 < g.scales[i].reach(a0); a1++ {
			for b0 := range bins {
				for b1 := b0; b1 < g.scales[j].reach(b0); b1++ {
					w := weight[a1+1][b1+1] - weight[a0][b1+1] - weight[a1+1][b0] + weight[a0][b0]
					q := square[a1+1][b1+1] - square[a0][b1+1] - square[a1+1][b0] + square[a0][b0]
					if e := g.excess(w, q); e > best.excess {
						best = region{columns: [2]int{i, j}, lo: [2]int{a0, b0}, hi: [2]int{a1, b1}, weight: w, square: q, excess: e}
					}
				}
			}
		}
	}
	return best
}

// reach is one more than the last bin of an interval that begins at lo: levels have no
// neighbours.
func (c *scale) reach(lo int) int {
	if c.factor {
		return lo + 1
	}
	return min(bins, len(c.cuts)+1)
}

// excess is how far the squares q of rows of weight w exceed those of as many average
// rows, in standard errors; 0 for regions that are too small or hardly differ.
func (g *grounds) excess(w, q float64) float64 {
	share := w / g.sumWeight
	if share < regionRows || share > 0.9 || q < regionLift*share*g.squares {
		return 0
	}
	mean := g.squares / g.sumWeight
	variance := g.fourths/g.sumWeight - mean*mean
	if !(variance > 0) {
		return 0
	}
	return (q - w*mean) / math.Sqrt(w*(1-share)*variance) / math.Sqrt(g.each) // whatever the scale of the weights
}

// condition is bins lo to hi of the column in its own values.
func (c *scale) condition(lo, hi int) decompose.Condition {
	out := decompose.Condition{Feature: c.name}
	if c.factor {
		if lo < bins-1 {
			out.Levels = c.levels[lo : lo+1]
		} else {
			out.Levels = c.levels[min(lo, len(c.levels)):]
		}
		return out
	}
	if lo > 0 {
		out.From = &c.cuts[lo-1]
	}
	if hi < len(c.cuts) {
		out.To = &c.cuts[hi]
	}
	return out
}
