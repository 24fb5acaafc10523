package interaction

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/data"
)

const (
	bins    = 8    // of a column, at most
	missing = bins // the bin of rows without a value
	stride  = bins + 1
	degrees = 4   // of the polynomials in a pair's columns
	knots   = 256 // of the function from values to ranks
)

// scale turns the values of a column into bins and ranks.
type scale struct {
	name string
	// A number's bin is how many cuts it has reached, and its rank is interpolated between
	// those of the values at the knots.
	cuts        []float64
	at, rank    []float64
	key         []uint64 // of the knots: see order
	distinct    int      // values in the sample
	withMissing bool

	// A level's bin: the 7 most frequent ones have bins of their own, in that order.
	factor bool
	coded  bool // numbers that a term of the formula takes for levels: factor(x)
	levels []string
	bin    map[string]uint8
	number map[float64]uint8 // as bin, of coded columns
}

// scales are of the sample's columns, in their order; coded names the columns of numbers that are
// levels.
func (s *Sample) scales(coded map[string]bool) []*scale {
	all := make([]*scale, len(s.columns))
	for j, name := range s.columns {
		c := &scale{name: name}
		text := len(s.kept) > 0 && s.kept[0].values[j].level != nil
		if c.coded = coded[name] && !text; text || c.coded {
			c.countLevels(s.kept, j)
		} else {
			c.rankNumbers(s.kept, j)
		}
		all[j] = c
	}
	return all
}

// countLevels gives frequent levels bins: ties go to the level that came first, so that
// nothing depends on names.
func (c *scale) countLevels(rows []sampledRow, j int) {
	type seen struct {
		level string
		count int
		first int64
	}
	var all []*seen
	of := map[string]*seen{}
	for _, r := range rows {
		var l string
		if x := r.values[j].number; !c.coded {
			l = *r.values[j].level
		} else if x == x {
			l = data.LevelText(x)
		} else {
			c.withMissing = true
			continue
		}
		if of[l] == nil {
			of[l] = &seen{level: l, first: r.row}
			all = append(all, of[l])
		}
		of[l].count++
		of[l].first = min(of[l].first, r.row)
	}
	slices.SortFunc(all, func(a, b *seen) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.first, b.first))
	})
	c.factor, c.distinct, c.bin = true, len(all), map[string]uint8{}
	for i, l := range all {
		c.bin[l.level] = uint8(min(i, bins-1))
		c.levels = append(c.levels, l.level)
	}
	if !c.coded {
		return
	}
	c.number = map[float64]uint8{}
	for _, r := range rows {
		if x := r.values[j].number; x == x {
			c.number[x] = c.bin[data.LevelText(x)]
		}
	}
}

// rankNumbers finds the cuts, which part the sample equally as far as ties allow, and the
// mid-ranks.
func (c *scale) rankNumbers(rows []sampledRow, j int) {
	var x []float64
	for _, r := range rows {
		if v := r.values[j].number; v == v {
			x = append(x, v)
		}
	}
	c.withMissing = len(x) < len(rows)
	if len(x) == 0 {
		return
	}
	slices.Sort(x)
	values, ranks := midRanks(x)
	c.distinct = len(values)
	c.cuts = cutsOf(x, values)
	c.setKnots(thinned(values, ranks))
}

func (c *scale) setKnots(at, rank []float64) {
	c.at, c.rank, c.key = at, rank, make([]uint64, len(at))
	for i, v := range at {
		c.key[i] = order(v)
	}
}

// midRanks are the distinct values of the sorted x and (values below + half of those
// equal) / n.
func midRanks(x []float64) (values, ranks []float64) {
	for i := 0; i < len(x); {
		k := i
		for k < len(x) && x[k] == x[i] {
			k++
		}
		values, ranks = append(values, x[i]), append(ranks, float64(i+k)/2/float64(len(x)))
		i = k
	}
	return values, ranks
}

// cutsOf are where bins begin but the first: at each value, if they are few, else at the
// eighths.
func cutsOf(x, values []float64) []float64 {
	if len(values) <= bins {
		return slices.Clone(values[1:])
	}
	var cuts []float64
	for q := 1; q < bins; q++ {
		if v := x[len(x)*q/bins]; v > x[0] && (cuts == nil || v > cuts[len(cuts)-1]) {
			cuts = append(cuts, v)
		}
	}
	return cuts
}

// thinned are at most so many of the values as there are knots, the ends among them.
func thinned(values, ranks []float64) (at, rank []float64) {
	if len(values) <= knots {
		return values, ranks
	}
	for i := range knots {
		j := i * (len(values) - 1) / (knots - 1)
		at, rank = append(at, values[j]), append(rank, ranks[j])
	}
	return at, rank
}

// constant tells whether the sample holds fewer than two bins.
func (c *scale) constant() bool { return c.distinct < 2 }

// codes sets dst to the bins of b's rows.
func (c *scale) codes(dst []uint8, b *data.Batch) error {
	if c.factor && !c.coded {
		codes, err := b.Codes(c.name)
		if err != nil {
			return err
		}
		bin := c.binsOf(codes.Levels)
		for i, l := range codes.Index {
			dst[i] = bin[l]
		}
		return nil
	}
	x, err := b.Numeric(c.name)
	if err != nil {
		return err
	}
	if c.coded {
		c.numberCodes(dst, x)
		return nil
	}
	c.cutCodes(dst, x)
	return nil
}

// cutCodes sets dst to the bins of numbers.
func (c *scale) cutCodes(dst []uint8, x []float64) {
	var cut [bins - 1]float64
	for k := range cut {
		cut[k] = math.NaN() // which nothing reaches
	}
	copy(cut[:], c.cuts)
	for i, v := range x {
		n := reached(v, cut[0]) + reached(v, cut[1]) + reached(v, cut[2]) + reached(v, cut[3]) +
			reached(v, cut[4]) + reached(v, cut[5]) + reached(v, cut[6])
		if v != v {
			n = missing
		}
		dst[i] = n
	}
}

// reached is 1 if v >= cut, without a jump.
func reached(v, cut float64) uint8 {
	var n uint8
	if v >= cut {
		n = 1
	}
	return n
}

// numberCodes sets dst to the bins of numbers that are levels.
func (c *scale) numberCodes(dst []uint8, x []float64) {
	for i, v := range x {
		n, ok := c.number[v]
		switch {
		case v != v:
			n = missing
		case !ok:
			n = bins - 1
		}
		dst[i] = n
	}
}

// binsOf are the bins of levels; one that the sample lacks is rare, and in the last.
func (c *scale) binsOf(levels []string) []uint8 {
	bin := make([]uint8, len(levels))
	for l, name := range levels {
		n, ok := c.bin[name]
		if !ok {
			n = bins - 1
		}
		bin[l] = n
	}
	return bin
}

// ranked is the rank of v, between 0 and 1.
func (c *scale) ranked(v float64) float64 {
	i, key := 0, order(v) // the last knot that is not above v, or the first
	for n := len(c.key); n > 1; {
		half := n / 2
		_, above := bits.Sub64(key, c.key[i+half], 0)
		i += half & (int(above) - 1) // no jump: which way is chance
		n -= half
	}
	if i == len(c.at)-1 || !(v > c.at[i]) {
		return c.rank[i]
	}
	t := (v - c.at[i]) / (c.at[i+1] - c.at[i])
	return c.rank[i] + t*(c.rank[i+1]-c.rank[i])
}

// order is a number with the order of v among numbers.
func order(v float64) uint64 {
	b := math.Float64bits(v + 0) // of 0 in place of -0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// isMissing tells whether the column has no value in row i.
func (c *scale) isMissing(x []float64, codes []uint8, i int) bool {
	if c.factor {
		return codes[i] == missing
	}
	return math.IsNaN(x[i])
}

// legendre sets dst to the Legendre polynomials of degrees 1 to len(dst) at rank u, which
// is taken from [0,1] to [-1,1].
func legendre(dst []float64, u float64) {
	t := 2*u - 1
	below, now := 1.0, t
	for d := range dst {
		dst[d] = now
		x := t * now // (k+1) P_k+1 = (2k+1) t P_k - k P_k-1, k = d+1
		below, now = now, x+(x-below)*(1-1/float64(d+2))
	}
}

// width is how many functions of the column a pair's products take, of so many degrees at
// most.
func (c *scale) width(degree int) int {
	if c.factor {
		return min(c.distinct, bins) - 1
	}
	return min(degree, c.distinct-1)
}

// functions sets the width(degree) numbers of dst to the functions of the column in row i:
// Legendre polynomials of the rank, or indicators of bins but the first; 0 if missing.
func (c *scale) functions(dst []float64, x []float64, codes []uint8, i int) {
	if c.factor {
		clear(dst)
		if n := int(codes[i]); n > 0 && n <= len(dst) {
			dst[n-1] = 1
		}
		return
	}
	if math.IsNaN(x[i]) {
		clear(dst)
		return
	}
	legendre(dst, c.ranked(x[i]))
}
