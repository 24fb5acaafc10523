package wiring

import (
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
)

// Of the pairs that AutoInteractions adds, each takes at least worthIt of Var(eta) from the
// remainder, and together they are at most maxAuto. Each counts for pairColumns columns, of
// which there is at most one for rowsPerColumn rows.
const (
	worthIt       = 0.005
	maxAuto       = 10
	pairColumns   = 16
	rowsPerColumn = 10
)

// Ranking is a visitor that ranks pairs, nil if nobody asks.
func (d *Ready) Ranking() []decompose.Visitor {
	if d.sample == nil {
		return nil
	}
	return []decompose.Visitor{interaction.NewRanking(d.sample)}
}

// sampleOf samples the columns that the network reads or the formulas name and that are
// neither tensors nor have a role, nil if nobody asks what is left.
func (q *Request) sampleOf(m decompose.Model, terms []decompose.Spec) *interaction.Sample {
	if q.Interactions == NoInteractions {
		return nil
	}
	names := slices.Clone(m.Columns())
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

// AddPairs decomposes the network as d has it, to rank pairs of columns, and makes
// everything ready anew with those that Interactions asks for. added are the terms. If
// Interactions asks for none, or no pair is worth it, it is d itself that comes back.
func (q *Request) AddPairs(ctx context.Context, d *Ready) (_ *Ready, added []string, err error) {
	if q.Interactions == 0 || q.Interactions == NoInteractions {
		return d, nil, nil
	}
	o := *q.Options
	o.Visitors, o.Bands, o.Cluster = d.Ranking(), decompose.ProjectionBands, "" // nobody asks for bands yet
	r, err := decompose.Decompose(ctx, d.Model, d.Rows, &o)
	if err != nil {
		return nil, nil, err
	}
	if q.Formulas, added, err = withPairs(q.Formulas, r, q.Interactions); err != nil || len(added) == 0 {
		return d, nil, err
	}
	extended, err := q.Ready(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("adding %q: %w", added, err)
	}
	extended.Chosen, extended.LeftOut = q.Formulas, d.LeftOut
	return extended, added, nil
}

// withPairs are the formulas with the best pairs of each predictor, n of them or those that
// are worth it, and what was added.
func withPairs(formulas []string, r *decompose.Result, n int) (all, added []string, err error) {
	all = slices.Clone(formulas)
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if d.Remainder == nil {
			continue
		}
		terms := worthAdding(d.Remainder.Pairs, r.Rows-int64(d.Columns)*rowsPerColumn, n)
		if len(terms) == 0 {
			continue
		}
		name := ""
		if len(r.Predictors) > 1 {
			name = d.Name
		}
		if all, err = withTerms(all, name, terms); err != nil {
			return nil, nil, err
		}
		added = append(added, terms...)
	}
	return all, added, nil
}

// worthAdding are the terms of the first n pairs; of AutoInteractions those that gain enough
// and that the rows can bear.
func worthAdding(pairs []decompose.PairGain, rows int64, n int) []string {
	var terms []string
	for i, p := range pairs {
		if n != AutoInteractions && i >= n {
			break
		}
		if n == AutoInteractions && (p.Gain < worthIt || i >= maxAuto || int64(i+1)*pairColumns*rowsPerColumn > rows) {
			break
		}
		terms = append(terms, p.Term)
	}
	return terms
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
