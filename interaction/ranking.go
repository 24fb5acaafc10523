package interaction

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/rowhash"
)

const (
	maxCandidates = 30      // pairs of the exact products
	maxSums       = 20_000  // pairs times sums in a cell: tables of more would not fit the caches
	keptRows      = 1 << 14 // for the exact products; of more rows so many are drawn by hash
	maxProducts   = 480     // functions of pairs in the exact products
	maxSingles    = 400     // and of single columns
	maxRounds     = 3       // of candidates and their exact products, where some are left over
	worthRound    = 0.005   // share of the remainder that a pair left over must take for another round
	muchSingle    = 0.2     // share of it that functions of single columns must take
	level         = 0.05    // of the test of all pairs together
	nothing       = 1e-6    // share of Var(eta) that is not worth asking about
	maxSpent      = 0.9     // degrees of freedom by row above which the remainder says nothing
)

// Ranking is a visitor that writes Predictor.Remainder: the pairs that the remainder of a
// decomposition depends on, its rows and its regions; if all remainders are less than a
// millionth of their predictors' variance, nothing of it. It looks at the rows once: tables of all
// pairs are of all rows, and what follows is about a sample that it keeps of them. A Ranking is
// of one decomposition at a time.
type Ranking struct {
	sample  *Sample
	id      string // column that names rows; "": none
	workers int    // 0: GOMAXPROCS
	weights string

	scales  []*scale
	unasked string
	asked   []bool // by predictor
	limit   uint64 // rows whose hash is at most this are kept,
	rows    int    // so many

	sums  *sums  // nil: no chunk yet
	spare *spare // memory for the tables of chunks
}

// NewRanking ranks by the sample, which is of the rows of the decomposition.
func NewRanking(s *Sample) *Ranking { return &Ranking{sample: s} }

// WithID makes v name the rows of the largest remainder by a column of text or numbers; "" by
// none. It returns v.
func (v *Ranking) WithID(column string) *Ranking {
	v.id = column
	return v
}

// WithWorkers makes v compare pairs in at most so many goroutines; 0: GOMAXPROCS, as without it.
// No result depends on it. It returns v.
func (v *Ranking) WithWorkers(n int) *Ranking {
	v.workers = n
	return v
}

// goroutines is how many compare so many pairs.
func (v *Ranking) goroutines(pairs int) int {
	o := decompose.Options{Resources: decompose.Resources{Workers: v.workers}}
	return o.Goroutines(int64(pairs))
}

// Columns are those of the sample, and the one that names rows.
func (v *Ranking) Columns() []string {
	if v.id == "" {
		return v.sample.Columns()
	}
	return append(slices.Clone(v.sample.Columns()), v.id)
}

// Begin finds the columns and predictors to ask about.
func (v *Ranking) Begin(r *decompose.Result) error {
	*v = Ranking{sample: v.sample, id: v.id, weights: r.Weights, asked: make([]bool, len(r.Predictors)), spare: &spare{}}
	v.scales, v.unasked = columnsFor(v.sample.scales(codedIn(r)), r)
	for i := range r.Predictors {
		v.asked[i] = r.Predictors[i].Variance.Unstructured > nothing*r.Predictors[i].Variance.Total
	}
	v.limit, v.rows = math.MaxUint64, int(min(r.Rows, keptRows))
	if r.Rows > keptRows {
		v.limit = uint64(keptRows / float64(r.Rows) * (1 << 63) * 2)
	}
	return nil
}

// codedIn names the columns that terms take for factors.
func codedIn(r *decompose.Result) map[string]bool {
	coded := map[string]bool{}
	for _, d := range r.Predictors {
		for _, t := range d.Terms {
			if len(t.Features) == 1 && t.Kind == decompose.Factor {
				coded[t.Features[0]] = true
			}
		}
	}
	return coded
}

// columnsFor are the columns that vary, and the columns that were left out: of very many, the ones
// with the terms that vary least.
func columnsFor(all []*scale, r *decompose.Result) (kept []*scale, left string) {
	for _, c := range all {
		if !c.constant() {
			kept = append(kept, c)
		}
	}
	most := 2
	for sums := 1 + 2*len(r.Predictors); (most+1)*most/2*sums <= maxSums; {
		most++
	}
	if len(kept) <= most {
		return kept, ""
	}
	size := map[string]float64{}
	for _, d := range r.Predictors {
		for _, t := range d.Terms {
			for _, f := range t.Features {
				if d.Variance.Total > 0 {
					size[f] = max(size[f], t.After.Variance/d.Variance.Total/float64(len(t.Features)))
				}
			}
		}
	}
	order := slices.Clone(kept)
	slices.SortStableFunc(order, func(a, b *scale) int { return cmp.Compare(size[b.name], size[a.name]) })
	order = order[:most]
	n := len(kept)
	kept = slices.DeleteFunc(kept, func(c *scale) bool { return !slices.Contains(order, c) })
	return kept, fmt.Sprintf("pairs were looked for among the %d of %d columns whose terms vary most", most, n)
}

// Map forms the sums of a chunk, as decompose.Sums.
func (v *Ranking) Map(p *decompose.Parts) (any, error) {
	s := &sums{spare: v.spare}
	if !slices.Contains(v.asked, true) || p.Batch.Rows() == 0 {
		return s, nil
	}
	w, err := v.weightsOf(p.Batch)
	if err != nil {
		return nil, err
	}
	rows, err := valuesOf(v.scales, p.Batch)
	if err != nil {
		return nil, err
	}
	id := func(int) string { return "" }
	if v.id != "" {
		if id, err = p.Batch.Texts(v.id); err != nil {
			return nil, err
		}
	}
	r := make([][]float64, len(p.Predictors))
	for k := range p.Predictors {
		d := &p.Predictors[k]
		r[k] = d.Unstructured
		s.worst = append(s.worst, worstOf(d.Unstructured, d.Eta, w, p.Batch.Row, id, rows.codes))
	}
	if n := len(v.scales); n > 1 {
		s.tables = v.spare.newTables(n*(n-1)/2, len(r), w != nil)
		each := v.spare.newSums(p.Batch.Rows())
		s.tables.rows(rows.codes, w, r, each)
		v.spare.takeSums(each)
		s.kept = keptOf(v.scales, v.drawn(p.Batch, w), rows, w, r)
	}
	return s, nil
}

func (v *Ranking) weightsOf(b *data.Batch) ([]float64, error) {
	if v.weights == "" {
		return nil, nil
	}
	w, err := b.Numeric(v.weights)
	if err != nil {
		return nil, fmt.Errorf("interaction: %w", err)
	}
	return w, nil
}

// valuesOf are the columns' numbers and bins at the rows of b.
func valuesOf(scales []*scale, b *data.Batch) (*values, error) {
	v := &values{codes: make([][]uint8, len(scales)), numbers: make([][]float64, len(scales))}
	for j, c := range scales {
		if !c.factor {
			x, err := b.Numeric(c.name)
			if err != nil {
				return nil, fmt.Errorf("interaction: %w", err)
			}
			v.numbers[j] = x
		}
		v.codes[j] = make([]uint8, b.Rows())
		if err := c.codes(v.codes[j], b); err != nil {
			return nil, fmt.Errorf("interaction: %w", err)
		}
	}
	return v, nil
}

// drawn lists the rows of b that are kept.
func (v *Ranking) drawn(b *data.Batch, w []float64) []int32 {
	var list []int32
	for i := range b.Rows() {
		if rowhash.Of(b.Row(i)) <= v.limit && (w == nil || w[i] > 0) {
			list = append(list, int32(i))
		}
	}
	return list
}

// Reduce takes the sums of all rows, or adds those of rows that follow.
func (v *Ranking) Reduce(part any) error {
	s, ok := part.(*sums)
	switch {
	case !ok:
		return errors.New("interaction: Reduce got something that Map did not make")
	case v.sums == nil:
		v.sums = s
		return nil
	}
	return v.sums.Add(s)
}

// End finds the pairs and writes what there is to say.
func (v *Ranking) End(r *decompose.Result) error {
	v.spare = nil
	if v.sums != nil && v.sums.kept != nil {
		v.sums.kept.bin(v.scales)
	}
	for k := range r.Predictors {
		r.Predictors[k].Remainder = v.remainder(r, k)
	}
	return nil
}

// spent tells whether the fit took so many degrees of freedom that what it left of these
// rows says nothing.
func spent(r *decompose.Result, k int) bool {
	return r.Predictors[k].EDF > maxSpent*float64(r.Rows)
}

// remainder is what there is to say of predictor k.
func (v *Ranking) remainder(r *decompose.Result, k int) *decompose.Remainder {
	d := &r.Predictors[k]
	out := &decompose.Remainder{Pairs: []decompose.PairGain{}, Regions: []decompose.Region{}, Unasked: v.unasked}
	if d.Variance.Total > 0 {
		out.Share = d.Variance.Unstructured / d.Variance.Total
	}
	out.UnexplainedByPairs = out.Share
	switch {
	case !v.asked[k]:
		return out
	case len(v.scales) < 2:
		out.Unasked = "there are no two columns that vary"
		return out
	case spent(r, k):
		out.Unasked = fmt.Sprintf("the terms have %.4g degrees of freedom on %d rows, so what is left on these rows says nothing", d.EDF, r.Rows)
		return out
	case v.sums == nil || v.sums.tables == nil:
		return out
	}
	v.places(out, r, k)
	if f := v.find(r, k); f != nil {
		v.gains(out, f, r, k)
	}
	return out
}

// places are the rows and regions of the largest remainder.
func (v *Ranking) places(out *decompose.Remainder, r *decompose.Result, k int) {
	rows, all := v.sums.worst[k], v.sums.tables
	for _, w := range rows {
		out.Rows = append(out.Rows, decompose.RemainderRow{Row: w.row + 1, ID: w.id, Unstructured: w.r, Eta: w.eta, Share: w.weight * w.r * w.r / all.squares[k]})
	}
	out.Regions = append(out.Regions, all.regions(k, v.scales, rows, r.Rows)...)
}

// gains are those of the chosen pairs. What the fit has taken from these rows is divided
// out: of noise it leaves 1 - edf/n.
func (v *Ranking) gains(out *decompose.Remainder, f *finding, r *decompose.Result, k int) {
	d := &r.Predictors[k]
	all := f.weight * d.Variance.Total * (1 - d.EDF/float64(r.Rows))
	out.SingleColumns = max(0, f.single/all)
	if out.SingleColumns > 0 {
		out.Singles = f.namedSingles(v.scales, all)
	}
	for _, step := range f.steps {
		a, b := v.scales[step.pair[0]], v.scales[step.pair[1]]
		out.Pairs = append(out.Pairs, decompose.PairGain{
			Features: []string{a.name, b.name}, Gain: step.gain / all, P: min(1, step.p*float64(f.tested)), Term: termOf(a, b).String(),
		})
		out.UnexplainedByPairs -= step.gain / all
	}
}
