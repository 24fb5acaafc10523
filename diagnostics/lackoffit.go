package diagnostics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/pho-go/pho/decompose"
)

// LackOfFit is a visitor that asks of every smooth of one numeric column how much of the remainder
// is still a function of that column: what the smooth should have explained. The remainder is
// summed in bins of the column; the variance of bin means is compared with what the variance
// within bins (pure error) gives by chance, whatever that is from bin to bin: the sum of squares
// between bins is a sum of scaled chi-squares, approximated by its first two moments (Box 1954).
// It writes TermResult.LackOfFit in End.
type LackOfFit struct {
	cuts    func(column string) []float64
	columns []string
	edges   [][]float64 // by column: bin b holds values from edge b-1 to below edge b
	binning []*binning
	weights string
	terms   []binned
	sums    *binSums
}

// binned is a term that is checked.
type binned struct{ predictor, term, column int }

// NewLackOfFit returns a visitor for one decomposition. cuts part the values of a column into bins of about
// equally many rows, the finer the better: increasing numbers, where a bin begins; none: no term of the column is checked.
func NewLackOfFit(cuts func(column string) []float64) *LackOfFit { return &LackOfFit{cuts: cuts} }

// Columns is empty: terms' features and weights are read anyway.
func (c *LackOfFit) Columns() []string { return nil }

// Begin finds the smooths to check.
func (c *LackOfFit) Begin(r *decompose.Result) error {
	c.columns, c.edges, c.binning, c.terms, c.weights = nil, nil, nil, nil, r.Weights
	for k := range r.Predictors {
		for j := range r.Predictors[k].Terms {
			t := &r.Predictors[k].Terms[j]
			if t.Kind != decompose.Smooth || len(t.Features) != 1 || !checkable(r, t) {
				continue
			}
			at := slices.Index(c.columns, t.Features[0])
			if at < 0 {
				edges := c.cuts(t.Features[0])
				if len(edges) == 0 {
					continue
				}
				at = len(c.columns)
				c.columns, c.edges, c.binning = append(c.columns, t.Features[0]), append(c.edges, edges), append(c.binning, newBinning(edges))
			}
			c.terms = append(c.terms, binned{k, j, at})
		}
	}
	c.sums = c.nothing()
	return nil
}

// nothing are sums of no rows.
func (c *LackOfFit) nothing() *binSums {
	s := &binSums{columns: make([]binnedColumn, len(c.columns)), terms: make([]binnedTerm, len(c.terms))}
	for i := range s.columns {
		n := len(c.edges[i]) + 1
		s.columns[i] = binnedColumn{make([]float64, n), make([]float64, n), make([]float64, n)}
	}
	for i, t := range c.terms {
		n := len(c.edges[t.column]) + 1
		s.terms[i] = binnedTerm{make([]float64, n), make([]float64, n), make([]float64, n)}
	}
	return s
}

// Map sums the remainder and the terms in bins, as decompose.Sums.
func (c *LackOfFit) Map(p *decompose.Parts) (any, error) {
	s := c.nothing()
	if len(c.terms) == 0 {
		return s, nil
	}
	var w []float64
	if c.weights != "" {
		var err error
		if w, err = p.Batch.Numeric(c.weights); err != nil {
			return nil, fmt.Errorf("diagnostics: %w", err)
		}
	}
	in := make([][]int32, len(c.columns)) // the bin of every row; -1: in none
	for i, name := range c.columns {
		x, err := p.Batch.Numeric(name)
		if err != nil {
			return nil, fmt.Errorf("diagnostics: %w", err)
		}
		in[i] = c.binning[i].bins(x, w)
		own := &s.columns[i]
		for r, b := range in[i] {
			if b >= 0 {
				v := weight(w, r)
				own.rows[b]++
				own.weight[b] += v
				own.x[b] += v * x[r]
			}
		}
	}
	for i, t := range c.terms {
		d, own := &p.Predictors[t.predictor], &s.terms[i]
		values := d.Terms.RawMatrix()
		for r, b := range in[t.column] {
			if b >= 0 {
				v := weight(w, r)
				e := v * d.Unstructured[r]
				own.remainder[b] += e
				own.square[b] += e * e
				own.value[b] += v * values.Data[r*values.Stride+t.term]
			}
		}
	}
	return s, nil
}

// binning finds the bin of a value: how many edges it has reached.
type binning struct {
	edges []float64
	// first are, of as many equal parts of the range of edges as there are edges, four times, how many edges lie
	// before: bins are looked for between two of them.
	first    []int32
	perUnit  float64
	from, to float64
}

func newBinning(edges []float64) *binning {
	n := len(edges)
	b := &binning{edges: edges, from: edges[0], to: edges[n-1], first: make([]int32, 4*n+1)}
	b.perUnit = float64(4*n) / (b.to - b.from)
	for _, e := range edges {
		b.first[b.part(e)+1]++
	}
	for i := range 4 * n {
		b.first[i+1] += b.first[i]
	}
	return b
}

// part never decreases with x.
func (b *binning) part(x float64) int {
	if f := (x - b.from) * b.perUnit; f > 0 { // not of one edge alone, whose parts are infinitely many to the unit
		return int(min(f, float64(len(b.first)-2)))
	}
	return 0
}

func (b *binning) bin(x float64) int32 {
	at := b.part(x)
	low, high := b.first[at], b.first[at+1]
	for low < high {
		if half := (low + high) / 2; b.edges[half] <= x {
			low = half + 1
		} else {
			high = half
		}
	}
	return low
}

// bins are those of each x; -1 of a row without weight or value.
func (b *binning) bins(x, w []float64) []int32 {
	out := make([]int32, len(x))
	for r, v := range x {
		if out[r] = -1; v == v && (w == nil || w[r] > 0) {
			out[r] = b.bin(v)
		}
	}
	return out
}

func weight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// Reduce takes the sums of all rows, or adds those of rows that follow.
func (c *LackOfFit) Reduce(part any) error {
	s, ok := part.(*binSums)
	if !ok {
		return errors.New("diagnostics: Reduce got something that Map did not make")
	}
	return c.sums.Add(s)
}

// End tests every smooth. P is times the number of smooths of its predictor that are tested.
func (c *LackOfFit) End(r *decompose.Result) error {
	tests := make([]int, len(r.Predictors))
	for _, t := range c.terms {
		d := &r.Predictors[t.predictor]
		own := &d.Terms[t.term]
		if own.LackOfFit = lackOfFit(c.bins(t), d, own); own.LackOfFit != nil {
			tests[t.predictor]++
		}
	}
	for _, t := range c.terms {
		if own := r.Predictors[t.predictor].Terms[t.term].LackOfFit; own != nil {
			own.P = min(1, own.P*float64(tests[t.predictor]))
		}
	}
	return nil
}

// Bin is what the rows of one bin of a term's column have. Means are weighted.
type Bin struct {
	Low, High float64 // values are from Low to below High; infinite at the ends
	Rows      float64 // of positive weight
	Weight    float64 // their sum
	X         float64 // mean of the column
	Value     float64 // mean of the term
	Remainder float64 // mean of the remainder
	Variance  float64 // of Remainder by chance, from the rows within the bin; NaN of a single row
}

// Bins are those of the term with rows, in the order of the column; nil: it is not checked.
func (c *LackOfFit) Bins(predictor, term int) []Bin {
	for _, t := range c.terms {
		if t.predictor == predictor && t.term == term {
			return c.bins(t)
		}
	}
	return nil
}

func (c *LackOfFit) bins(t binned) []Bin {
	at := slices.Index(c.terms, t)
	edges, x, own := c.edges[t.column], &c.sums.columns[t.column], &c.sums.terms[at]
	var all []Bin
	for b := range x.rows {
		n, w := x.rows[b], x.weight[b]
		if n == 0 {
			continue
		}
		bin := Bin{Low: math.Inf(-1), High: math.Inf(1), Rows: n, Weight: w, X: x.x[b] / w, Value: own.value[b] / w, Remainder: own.remainder[b] / w}
		if b > 0 {
			bin.Low = edges[b-1]
		}
		if b < len(edges) {
			bin.High = edges[b]
		}
		bin.Variance = variance(n, own.remainder[b], own.square[b]) / (w * w)
		all = append(all, bin)
	}
	return all
}

// variance is that of the sum of n numbers, by their sum and sum of squares: n s^2.
func variance(n, sum, square float64) float64 { return max(0, square-sum*sum/n) * n / (n - 1) }

const (
	testBins = 100 // of the test, at most
	testRows = 25  // of a bin of the test, at least: its variance is estimated
)

// lackOfFit is the test of one term; nil: there are too few rows, or nothing is left.
func lackOfFit(bins []Bin, d *decompose.Predictor, t *decompose.TermResult) *decompose.LackOfFit {
	rows, total := 0.0, 0.0
	for _, b := range bins {
		rows, total = rows+b.Rows, total+b.Weight
	}
	var between, chance, spread float64 // sum of squares of bin means, its mean and variance by chance
	count := 0
	for len(bins) > 0 {
		var b Bin
		if b, bins = joined(bins, max(testRows, rows/testBins)); b.Rows < testRows {
			break // the last few
		}
		count++
		between += b.Weight * b.Remainder * b.Remainder
		v := b.Weight * b.Variance
		chance += v
		spread += 2 * v * v * (b.Rows - 1) / (b.Rows + 1) // E s^4 = sigma^4 (n+1)/(n-1)
	}
	free := 1 - t.EDF/float64(count) // what the term's own degrees of freedom leave
	if free <= 0 || !(spread > 0) || !(d.Variance.Total > 0) {
		return nil
	}
	chance, spread = chance*free, spread*free
	missed := max(0, between-chance) / total
	return &decompose.LackOfFit{
		Share: missed / (t.After.Variance + missed), OfPredictor: missed / d.Variance.Total,
		P: mathext.GammaIncRegComp(chance*chance/spread, between*chance/spread), Bins: count,
	}
}

// joined is the first bins as one of at least so many rows, and those behind it. A rest of fewer rows than that is
// one bin with them.
func joined(bins []Bin, rows float64) (Bin, []Bin) {
	var n, w, sum, square float64
	i := 0
	for ; i < len(bins) && n < rows; i++ {
		b := &bins[i]
		n, w, sum = n+b.Rows, w+b.Weight, sum+b.Weight*b.Remainder
		square += squareOf(b)
	}
	rest := 0.0
	for _, b := range bins[i:] {
		rest += b.Rows
	}
	if rest < rows {
		for ; i < len(bins); i++ {
			b := &bins[i]
			n, w, sum = n+b.Rows, w+b.Weight, sum+b.Weight*b.Remainder
			square += squareOf(b)
		}
	}
	return Bin{Rows: n, Weight: w, Remainder: sum / w, Variance: variance(n, sum, square) / (w * w)}, bins[i:]
}

// squareOf is the bin's sum of squares of weighted remainders.
func squareOf(b *Bin) float64 {
	sum := b.Weight * b.Remainder
	if b.Rows < 2 {
		return sum * sum
	}
	return b.Variance*b.Weight*b.Weight*(b.Rows-1)/b.Rows + sum*sum/b.Rows
}
