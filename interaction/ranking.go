package interaction

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const (
	maxCandidates = 30      // pairs of the exact products
	maxSums       = 20_000  // pairs times sums in a cell: tables of more would not fit the caches
	productRows   = 1 << 14 // of the exact products; of more rows so many are drawn by hash
	maxProducts   = 480     // functions of pairs in the exact products
	maxSingles    = 400     // and of single columns
	maxRounds     = 3       // of tables and exact products, where candidates are left over
	worthRound    = 0.005   // share of the remainder that a pair left over must take for another round
	muchSingle    = 0.2     // share of it that functions of single columns must take
	level         = 0.05    // of the test of all pairs together
	nothing       = 1e-6    // share of Var(eta) that is not worth asking about
	maxSpent      = 0.9     // degrees of freedom by row above which the remainder says nothing
)

// Ranking is a visitor that writes Predictor.Remainder: the pairs that the remainder of a
// decomposition depends on, its rows and its regions. It looks at the rows twice if there
// are pairs to tell, else once; if all remainders are less than a millionth of their
// predictors' variance, not at all. Where more pairs pass the first test than can be
// compared, which echoes of a strong one among many columns that correlate do, it looks
// again at what the pairs chosen so far leave. A Ranking is of one decomposition at a time.
type Ranking struct {
	sample  *Sample
	id      string // column that names rows; "": none
	weights string

	scales  []*scale
	unasked string
	asked   []bool // by predictor
	limit   uint64 // rows whose hash is at most this are in the exact products,
	rows    int    // so many

	exact bool // the pass is of exact products, not of tables
	round int
	sums  *sums   // of the pass; nil: no chunk yet
	total *tables // of the first round
	worst []worst
	looks []*look    // by predictor; nil: there are no candidates
	found []*finding // by predictor; nil: no pair can be told
	spare *spare     // memory for the sums of chunks
}

// look is what a pass of exact products forms of one predictor.
type look struct {
	functions *functions
	tested    int  // pairs of columns
	leftOver  bool // pairs that pass the test of tables and matter are not among the candidates
}

// finding is what exact products say.
type finding struct {
	steps   []step
	single  float64   // what functions of single columns explain of sum w r^2
	of      []int     // scales whose own functions were looked at,
	singles []float64 // and what each one's explain alone
	weight  float64   // of the rows
	tested  int
	fit     *fit
}

// NewRanking ranks by the sample, which is of the rows of the decomposition.
func NewRanking(s *Sample) *Ranking { return &Ranking{sample: s} }

// WithID makes v name the rows of the largest remainder by a column of text or numbers; "" by
// none. It returns v.
func (v *Ranking) WithID(column string) *Ranking {
	v.id = column
	return v
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
	k := len(r.Predictors)
	*v = Ranking{sample: v.sample, id: v.id, weights: r.Weights, asked: make([]bool, k),
		looks: make([]*look, k), found: make([]*finding, k), spare: newSpare(k)}
	v.scales, v.unasked = columnsFor(v.sample.scales(codedIn(r)), r)
	for i := range r.Predictors {
		v.asked[i] = r.Predictors[i].Variance.Unstructured > nothing*r.Predictors[i].Variance.Total
	}
	v.limit, v.rows = math.MaxUint64, int(min(r.Rows, productRows))
	if r.Rows > productRows {
		v.limit = uint64(productRows / float64(r.Rows) * (1 << 63) * 2)
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

// columnsFor are the columns that vary, and which were left out: of very many those whose
// terms vary least.
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

// pass is the number of the pass over the rows: tables, products, tables again.
func (v *Ranking) pass() int {
	if v.exact {
		return 2*v.round + 1
	}
	return 2 * v.round
}

// Map forms the sums of a chunk, as decompose.Sums.
func (v *Ranking) Map(p *decompose.Parts) (any, error) {
	s := &sums{pass: v.pass(), spare: v.spare}
	if !slices.Contains(v.asked, true) || p.Batch.Rows() == 0 {
		return s, nil
	}
	w, err := v.weightsOf(p.Batch)
	if err != nil {
		return nil, err
	}
	rows, err := valuesOf(v.scales, p.Batch, !v.exact)
	if err != nil {
		return nil, err
	}
	if v.exact {
		s.products = v.products(p, rows, w)
		return s, nil
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
		r[k] = v.found[k].leaves(rows, d.Unstructured, nil)
		if v.round == 0 {
			s.worst = append(s.worst, worstOf(d.Unstructured, d.Eta, w, p.Batch.Row, id, rows.codes))
		}
	}
	if n := len(v.scales); n > 1 {
		s.tables = v.spare.newTables(n*(n-1)/2, len(r), w != nil)
		s.tables.rows(rows.codes, w, r)
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

// valuesOf are the columns' values at the rows of b; the bins of numbers only if asked for.
func valuesOf(scales []*scale, b *data.Batch, bins bool) (*values, error) {
	v := &values{codes: make([][]uint8, len(scales)), numbers: make([][]float64, len(scales))}
	for j, c := range scales {
		if !c.factor {
			x, err := b.Numeric(c.name)
			if err != nil {
				return nil, fmt.Errorf("interaction: %w", err)
			}
			v.numbers[j] = x
		}
		if c.factor || bins {
			v.codes[j] = make([]uint8, b.Rows())
			if err := c.codes(v.codes[j], b); err != nil {
				return nil, fmt.Errorf("interaction: %w", err)
			}
		}
	}
	return v, nil
}

// products are, by predictor, the exact ones of the rows of a chunk that take part; nil: none. What is left of the
// remainder, where that is known, says how large the noise is.
func (v *Ranking) products(p *decompose.Parts, rows *values, w []float64) []*products {
	var list []int32
	for i := range p.Batch.Rows() {
		if hashOf(p.Batch.Row(i)) <= v.limit && (w == nil || w[i] > 0) {
			list = append(list, int32(i))
		}
	}
	all := make([]*products, len(v.looks))
	for k, l := range v.looks {
		if l != nil && len(list) > 0 {
			r := p.Predictors[k].Unstructured
			all[k] = v.spare.newProducts(k, l.functions.width())
			all[k].rows(l.functions, rows, w, r, v.found[k].leaves(rows, r, list), list)
		}
	}
	return all
}

// Reduce takes the sums of all rows, or adds those of rows that follow. They are of the
// pass at hand.
func (v *Ranking) Reduce(part any) error {
	s, ok := part.(*sums)
	switch {
	case !ok:
		return errors.New("interaction: Reduce got something that Map did not make")
	case s.pass != v.pass():
		return fmt.Errorf("interaction: sums of pass %d over the rows came in pass %d", s.pass+1, v.pass()+1)
	case v.sums == nil:
		v.sums = s
		return nil
	}
	return v.sums.Add(s)
}

// Again asks for exact products if the tables leave pairs to tell apart, and for tables of
// what the chosen pairs leave if there were more candidates than could be compared.
func (v *Ranking) Again(r *decompose.Result) (bool, error) {
	all := v.sums
	v.sums, v.spare = nil, newSpare(len(r.Predictors))
	switch {
	case all == nil:
		return false, nil
	case v.exact:
		return v.afterProducts(r, all.products), nil
	case all.tables == nil:
		return false, nil
	case v.round == 0:
		v.total, v.worst = all.tables, all.worst
	}
	more := false
	for k := range r.Predictors {
		v.looks[k] = nil
		if v.asked[k] && !spent(r, k) && (v.round == 0 || v.found[k] != nil) {
			v.looks[k] = v.candidates(r, k, all.tables)
			more = more || v.looks[k] != nil
		}
	}
	v.exact = more
	return more, nil
}

// afterProducts chooses the pairs by products of all rows, by predictor, and tells whether
// another round could find more.
func (v *Ranking) afterProducts(r *decompose.Result, all []*products) bool {
	more := false
	for k, l := range v.looks {
		if l == nil || k >= len(all) || all[k] == nil {
			continue
		}
		p := all[k]
		inflation := v.inflation(r, k)
		s := newSelection(l.functions, p, inflation)
		f := &finding{steps: s.choose(level / float64(l.tested)), single: s.single, of: l.functions.of, singles: l.functions.singleGains(p, inflation), weight: p.weight, tested: l.tested}
		v.found[k] = nil
		if len(f.steps) > 0 || f.single > 0 {
			v.found[k] = f
		}
		curves := f.single > muchSingle*p.square // noise was taken to be as large as them
		if len(f.steps) > 0 || curves {
			f.fit = fitOf(l.functions, p, f.steps)
			more = more || l.leftOver || curves && v.round == 0
		}
	}
	v.round++
	v.exact = false
	return more && v.round < maxRounds
}

// inflation makes up for what fits took of the noise in these rows, as HC1 does: n/(n - p)
// for the columns of the terms, or of the fit whose residuals say how large the noise is.
func (v *Ranking) inflation(r *decompose.Result, k int) float64 {
	taken := r.Predictors[k].EDF / float64(r.Rows)
	if f := v.found[k]; f != nil && f.fit != nil {
		taken = max(taken, float64(len(f.fit.coef))/float64(v.rows))
	}
	return 1 / (1 - min(taken, maxSpent))
}

// spent tells whether the fit took so many degrees of freedom that what it left of these
// rows says nothing.
func spent(r *decompose.Result, k int) bool {
	return r.Predictors[k].EDF > maxSpent*float64(r.Rows)
}

// End writes what was found.
func (v *Ranking) End(r *decompose.Result) error {
	for k := range r.Predictors {
		r.Predictors[k].Remainder = v.remainder(r, k)
	}
	return nil
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
	case v.total == nil:
		return out
	}
	v.places(out, k)
	v.gains(out, r, k)
	return out
}

// places are the rows and regions of the largest remainder.
func (v *Ranking) places(out *decompose.Remainder, k int) {
	for _, w := range v.worst[k] {
		out.Rows = append(out.Rows, decompose.RemainderRow{Row: w.row + 1, ID: w.id, Unstructured: w.r, Eta: w.eta, Share: w.weight * w.r * w.r / v.total.squares[k]})
	}
	out.Regions = append(out.Regions, v.total.regions(k, v.scales, v.worst[k])...)
}

// gains are those of the chosen pairs. What the fit has taken from these rows is divided
// out: of noise it leaves 1 - edf/n.
func (v *Ranking) gains(out *decompose.Remainder, r *decompose.Result, k int) {
	f, d := v.found[k], &r.Predictors[k]
	if f == nil {
		return
	}
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
