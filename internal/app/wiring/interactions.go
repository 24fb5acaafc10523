package wiring

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
)

// What Interactions may be besides a number of pairs.
const (
	AutoInteractions = -1 // as many as are worth it
	NoInteractions   = -2 // none, and what the remainder depends on is not asked either
	// MoreInteractions are AutoInteractions if "~ ." stands where there was no formula, added once the terms are fitted (More), but
	// for curves by the levels of a factor, s(x, by = f), beside which s(x) is no main effect; of terms that somebody named, none.
	MoreInteractions = -3
)

// Of the pairs that AutoInteractions adds, each takes at least worthIt of Var(eta) from the
// remainder, and together they are at most maxAuto. Each counts for as many effective degrees of
// freedom as it can have, of which there is at most one for rowsPerEDF rows. A pair of many levels that
// is too large leaves room to the next. Those that nobody asks for have at most maxMoreEDF together: ten of numbers, which
// take some twenty times as long as ten smooths, and no pairs of hundreds of levels.
const (
	worthIt    = 0.005
	maxAuto    = 10
	rowsPerEDF = 10
	maxMoreEDF = 320
)

// Ranking is a visitor that ranks pairs, nil if nobody asks.
func (d *Ready) Ranking() []decompose.Visitor {
	if d.sample == nil || d.unranked {
		return nil
	}
	return []decompose.Visitor{interaction.NewRanking(d.sample).WithID(d.id).WithWorkers(d.workers)}
}

// sampleOf samples the columns that the network reads or the formulas name and that are
// neither tensors nor have a role; if nobody asks for the remainder, only the columns of chosen smooths, which may
// grow, else nil. Of a model that is known by its predictions, these are no columns to explain it by.
func (q *Request) sampleOf(m decompose.Model, terms []decompose.Spec) *interaction.Sample {
	asked := q.Interactions != NoInteractions
	if !asked && !slices.ContainsFunc(q.chosen, func(columns []string) bool { return len(columns) > 0 }) {
		return nil
	}
	var names []string
	if asked && (q.Network == nil || !q.Network.inColumns()) {
		names = slices.Clone(m.Columns())
	}
	for _, spec := range terms {
		names = append(names, spec.Columns()...)
	}
	schema, roles := q.Rows.Schema(), q.Options.Columns.Names()
	var among []string
	for _, name := range names {
		c, ok := schema.Lookup(name)
		if ok && c.Width == 0 && !slices.Contains(roles, name) && !slices.Contains(among, name) {
			among = append(among, name)
		}
	}
	return interaction.NewSample(among, q.Options.Weights)
}

// NamesPairs tells whether Interactions asks for pairs of whatever terms, to be added by AddPairs.
func (q *Request) NamesPairs() bool { return q.Interactions == AutoInteractions || q.Interactions > 0 }

// More changes the formulas by the result r for the terms of d; the last pass had d.LackOfFit and d.Ranking: first pairs come to them
// if there was no formula (MoreInteractions), then, by a result that has these, chosen smooths grow (grow); each once. added are the
// terms; none, and nothing changes, if all fit.
func (q *Request) More(d *Ready, r *decompose.Result) (added []string, err error) {
	if !q.paired {
		q.paired = true
		if q.Interactions == MoreInteractions && q.unasked {
			if added, _, err = q.addPairs(r, MoreInteractions); err != nil || len(added) > 0 {
				return added, err
			}
		}
	}
	if q.grown {
		return nil, nil
	}
	q.grown = true
	return q.grow(d, r)
}

// AddPairs decomposes the network as d has it, to rank pairs of columns, and makes everything ready anew with those that
// Interactions asks for (NamesPairs). added are the terms. If nothing is worth it, it is d itself that comes back.
func (q *Request) AddPairs(ctx context.Context, d *Ready) (_ *Ready, added []string, err error) {
	o := *q.Options
	o.Visitors, o.Bands, o.Cluster = d.Ranking(), decompose.ProjectionBands, "" // nobody asks for bands yet
	rank := q.Rank
	if rank == nil {
		rank = decompose.Decompose
	}
	r, err := rank(ctx, d.Model, d.Rows, &o)
	if err != nil {
		return nil, nil, err
	}
	added, stopped, err := q.addPairs(r, q.Interactions)
	if err != nil {
		return nil, nil, err
	}
	d.Stopped = stopped
	if len(added) == 0 {
		return d, nil, nil
	}
	extended, err := q.Again(ctx, d, added)
	if err != nil {
		return nil, nil, err
	}
	return extended, added, nil
}

// Again makes everything ready anew with q's formulas as they are now, which hold the added terms, too; the choice of terms is d's.
func (q *Request) Again(ctx context.Context, d *Ready, added []string) (*Ready, error) {
	extended, err := q.Ready(ctx)
	if err != nil {
		return nil, fmt.Errorf("adding %q: %w", added, err)
	}
	extended.Chosen, extended.LeftOut, extended.Stopped = q.Formulas, d.LeftOut, d.Stopped
	return extended, nil
}

// addPairs adds n pairs to the formulas, or AutoInteractions or MoreInteractions, those that r's ranking has (Ready.Ranking), for
// another Ready. added are the terms; none, and nothing changes, if no pair is worth it.
// stopped says why AutoInteractions adds no more.
func (q *Request) addPairs(r *decompose.Result, n int) (added, stopped []string, err error) {
	formulas, added, stopped, err := withPairs(q.Formulas, r, q.Options.Shared, n)
	if err != nil || len(added) == 0 {
		return nil, stopped, err
	}
	q.extendTo(formulas)
	return added, stopped, nil
}

// extendTo puts formulas with more terms in place of those at hand.
func (q *Request) extendTo(formulas []string) { q.Formulas, q.extended = formulas, q.extended+1 }

// withPairs are the formulas with the best n pairs of each predictor, or the pairs that are worth it; the pairs that
// were added, and why no more. Predictors that share smoothing parameters, as classes do, have equal terms: they get
// the best pairs of all of them together.
func withPairs(formulas []string, r *decompose.Result, shared []decompose.Sharing, n int) (all, added, stopped []string, err error) {
	all = slices.Clone(formulas)
	done := map[string]bool{}
	for k := range r.Predictors {
		members := sharers(r, k, shared)
		d := members[0]
		if done[d.Name] || d.Remainder == nil {
			continue
		}
		for _, m := range members {
			done[m.Name] = true
		}
		pairs := together(members)
		terms, spare := worthAdding(pairs, float64(r.Rows)/rowsPerEDF-d.EDF, n)
		if n == AutoInteractions {
			stopped = append(stopped, whyStopped(pairs, terms, spare, d.Name, r.Rows))
		}
		if len(terms) == 0 {
			continue
		}
		added = append(added, terms...)
		names := []string{""} // of all predictors
		if len(members) < len(r.Predictors) {
			names = names[:0]
			for _, m := range members {
				names = append(names, m.Name)
			}
		}
		for _, name := range names {
			if all, err = withTerms(all, name, terms); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	return all, added, stopped, nil
}

// sharers are the predictors that share smoothing parameters with the k-th, or it alone.
func sharers(r *decompose.Result, k int, shared []decompose.Sharing) []*decompose.Predictor {
	set := []string{r.Predictors[k].Name}
	for _, s := range shared {
		if slices.Contains(s.Predictors, set[0]) {
			set = s.Predictors
			break
		}
	}
	var members []*decompose.Predictor
	for i := range r.Predictors {
		if p := &r.Predictors[i]; slices.Contains(set, p.Name) {
			members = append(members, p)
		}
	}
	return members
}

// together are the pairs that any of the predictors depends on, by what they gain of the
// sum of the predictors' variances, the largest first. Gains of pairs that a predictor does
// not list count as nothing there.
func together(members []*decompose.Predictor) []decompose.PairGain {
	if len(members) == 1 {
		return members[0].Remainder.Pairs
	}
	total := 0.0
	for _, m := range members {
		total += m.Variance.Total
	}
	var all []decompose.PairGain
	for _, m := range members {
		if m.Remainder == nil {
			continue
		}
		for _, p := range m.Remainder.Pairs {
			p.Gain *= m.Variance.Total / total
			if i := slices.IndexFunc(all, func(q decompose.PairGain) bool { return q.Term == p.Term }); i >= 0 {
				all[i].Gain += p.Gain
			} else {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b decompose.PairGain) int { return cmp.Compare(b.Gain, a.Gain) })
	return all
}

// worthAdding are the terms of the first n pairs; of AutoInteractions and MoreInteractions those that gain enough
// and that the rows can bear: spare is how many more effective degrees of freedom, and then what is left of it.
func worthAdding(pairs []decompose.PairGain, spare float64, n int) (terms []string, left float64) {
	if n == MoreInteractions {
		spare = min(spare, maxMoreEDF)
	}
	for _, p := range pairs {
		switch {
		case n >= 0 && len(terms) == n, n < 0 && (p.Gain < worthIt || len(terms) == maxAuto):
			return terms, spare
		case n < 0 && float64(p.MaxEDF) > spare, n == MoreInteractions && byFactor(p.Term):
			continue
		}
		terms, spare = append(terms, p.Term), spare-float64(p.MaxEDF)
	}
	return terms, spare
}

// byFactor tells whether a term is s(x, by = f).
func byFactor(term string) bool {
	f, err := formula.Parse("~ " + term)
	return err == nil && slices.ContainsFunc(f.Summands[0].Calls, func(c formula.Call) bool {
		_, by := c.Arg("by")
		return by
	})
}

// whyStopped says why AutoInteractions adds no pairs but terms, which leave spare effective degrees of freedom.
func whyStopped(pairs []decompose.PairGain, terms []string, spare float64, predictor string, rows int64) string {
	added := fmt.Sprintf("no more than %d pairs are added", len(terms))
	switch len(terms) {
	case 0:
		added = "no pair is added"
	case 1:
		added = "no more than 1 pair is added"
	}
	share := func(v float64) string { return fmt.Sprintf("%.2g %%", 100*v) }
	of := fmt.Sprintf("interactions of %s: %s, since ", predictor, added)
	i := slices.IndexFunc(pairs, func(p decompose.PairGain) bool { return !slices.Contains(terms, p.Term) })
	switch {
	case i < 0:
		return of + "no other can be told from chance"
	case pairs[i].Gain < worthIt:
		return of + fmt.Sprintf("the next, %s, takes %s of the variance, less than %s", pairs[i].Term, share(pairs[i].Gain), share(worthIt))
	case len(terms) >= maxAuto:
		return of + fmt.Sprintf("that is the most; the next, %s, takes %s of the variance", pairs[i].Term, share(pairs[i].Gain))
	}
	return of + fmt.Sprintf("%d rows bear %d effective degrees of freedom, one for %d rows, of which the terms leave %.0f: %s, which takes %s of the variance, may have %d",
		rows, rows/rowsPerEDF, rowsPerEDF, max(0, spare), pairs[i].Term, share(pairs[i].Gain), pairs[i].MaxEDF)
}

// withTerms adds terms to the formula of the predictor ("": of all), or a formula of them.
func withTerms(formulas []string, predictor string, terms []string) ([]string, error) {
	text := "~ 0"
	at := -1
	for i, f := range formulas {
		parsed, err := formula.Parse(f)
		if err != nil {
			return nil, optionError("formula", err)
		}
		if parsed.Predictor == predictor {
			text, at = f, i
		}
	}
	f, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	f.Predictor = predictor
	if at < 0 {
		f.Intercept = true
	}
	var summands []formula.Summand
	for _, t := range terms {
		one, err := formula.Parse("~ " + t)
		if err != nil {
			return nil, err
		}
		summands = append(summands, one.Summands...)
	}
	if f, err = f.Expand(summands); err != nil {
		return nil, err
	}
	if at < 0 {
		return append(formulas, f.String()), nil
	}
	formulas[at] = f.String()
	return formulas, nil
}
