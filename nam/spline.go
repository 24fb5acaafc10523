package nam

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// withSplines keeps the learned terms of m and adds splines of their features. The notes
// say what has none.
func withSplines(ctx context.Context, m decompose.Model, src data.Source, o Options) (_ decompose.Model, notes []string, err error) {
	if src == nil {
		return nil, nil, errors.New("nam: the splines of PHONAM need rows to place their knots by, and there is no source")
	}
	kept := &withBlocks{Model: m}
	formulas := make([][]string, len(m.Predictors())) // of the splines of each predictor
	values, err := countValues(ctx, m, src, o)
	if err != nil {
		return nil, nil, err
	}
	for k, name := range m.Predictors() {
		blocks := slices.Clone(m.Blocks(k))
		given := slices.ContainsFunc(blocks, ofFormula)
		if !given {
			var without []string
			formulas[k], without = splinesOf(blocks, o, values)
			if len(without) > 0 {
				notes = append(notes, fmt.Sprintf("%s: there is no spline for terms of three or more features, nor for pairs with a feature of fewer than three values: %s is as the model has it", name, strings.Join(without, ", ")))
			}
		}
		kept.blocks = append(kept.blocks, keepLearned(blocks, given, values))
	}
	made, prepared, err := prepareSplines(ctx, m, src, formulas, o)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range prepared {
		notes = append(notes, p.Notes...)
	}
	extra := map[string][]decompose.Block{}
	for k, name := range m.Predictors() {
		for _, formula := range formulas[k] {
			extra[name] = append(extra[name], made[formula].Blocks...)
		}
	}
	with, err := decompose.With(kept, extra)
	return with, notes, err
}

// ofFormula tells whether a block was added to the network by a formula: the network's
// own have coefficients.
func ofFormula(b decompose.Block) bool { return !learned(b) && b.Coef == nil }

// keepLearned keeps the learned terms as they are, and lines that splines contain unless
// the splines are given by a formula.
func keepLearned(blocks []decompose.Block, given bool, values map[string]int) []decompose.Block {
	out := slices.Clone(blocks)
	for j := range out {
		b := &out[j]
		if learned(*b) || !given && coveredBySpline(*b, blocks, values) {
			*b = decompose.Block{Term: b.Term, Coef: b.Coef, Constraint: decompose.Kept()}
		}
	}
	return out
}

// prepareSplines makes the splines of all predictors in one go, so that they see the same
// rows as the passes to come, each once: predictors share them. made are the splines by
// formula, prepared the same in the order in which formulas first have them.
func prepareSplines(ctx context.Context, m decompose.Model, src data.Source, formulas [][]string, o Options) (made map[string]decompose.Prepared, prepared []decompose.Prepared, err error) {
	made = map[string]decompose.Prepared{}
	var distinct []string
	var specs []decompose.Spec
	for k, name := range m.Predictors() {
		for _, formula := range formulas[k] {
			if slices.Contains(distinct, formula) {
				continue
			}
			f, err := basis.Parse("~ "+formula, &basis.Options{Schema: src.Schema()})
			if err != nil {
				return nil, nil, fmt.Errorf("nam: predictor %q: %w", name, err)
			}
			distinct, specs = append(distinct, formula), append(specs, f.Specs[0])
		}
	}
	if prepared, err = decompose.PrepareFrom(ctx, decompose.ScansOf(o.Scans, src), "splines", specs, reads(m, o.Decompose)); err != nil {
		return nil, nil, fmt.Errorf("nam: the splines of PHONAM: %w", err)
	}
	for i, formula := range distinct {
		made[formula] = prepared[i]
	}
	return made, prepared, nil
}

// reads are the columns that the decomposition of m will read beside those of terms.
func reads(m decompose.Model, o *decompose.Options) []string {
	if o == nil {
		return m.Columns()
	}
	return slices.Concat(m.Columns(), o.Columns.Names())
}

// splinesOf writes the formula of a spline for each set of features of learned terms,
// features before pairs; without are the terms of more features, which get none. A pair is
// a tensor product te(a, b), or ti(a, b) if both features have splines of their own. If
// one of them has, it is te, of which decompose leaves out what that spline spans. A feature
// of fewer values than a spline has functions gets a smaller one, one of two values or of
// levels its own linear term or factor, unless the network has it.
func splinesOf(blocks []decompose.Block, o Options, values map[string]int) (formulas, without []string) {
	single := map[string]bool{}
	var pairs [][]string
	for _, b := range blocks {
		if !learned(b) {
			continue
		}
		switch f := b.Term.Columns(); len(f) {
		case 1:
			if single[f[0]] {
				continue
			}
			switch n := values[f[0]]; {
			case n >= leastValues:
				single[f[0]] = true
				formulas = append(formulas, fmt.Sprintf("s(%s, bs=%q, k=%d)", quoted(f[0]), o.Basis, min(o.K, n)))
			case n != 1 && !slices.ContainsFunc(blocks, func(b decompose.Block) bool { return !learned(b) && slices.Equal(b.Term.Columns(), f) }):
				if !slices.Contains(formulas, quoted(f[0])) {
					formulas = append(formulas, quoted(f[0]))
				}
			}
		case 2:
			if values[f[0]] < leastValues || values[f[1]] < leastValues {
				without = append(without, b.Term.Name())
			} else if !slices.ContainsFunc(pairs, func(p []string) bool { return sameSet(p, f) }) {
				pairs = append(pairs, f)
			}
		default:
			without = append(without, b.Term.Name())
		}
	}
	for _, f := range pairs {
		kind := "te"
		if single[f[0]] && single[f[1]] {
			kind = "ti"
		}
		formulas = append(formulas, fmt.Sprintf("%s(%s, %s, bs=%q, k=c(%d, %d))", kind, quoted(f[0]), quoted(f[1]), o.Basis, min(o.PairK, values[f[0]]), min(o.PairK, values[f[1]])))
	}
	return formulas, without
}

// coveredBySpline tells whether b is the network's own line of a feature that gets a
// spline: the spline contains it.
func coveredBySpline(b decompose.Block, blocks []decompose.Block, values map[string]int) bool {
	return b.Term.Kind() == decompose.Linear && values[b.Term.Columns()[0]] >= leastValues && slices.ContainsFunc(blocks, func(l decompose.Block) bool {
		return learned(l) && len(l.Term.Columns()) <= 2 && slices.Contains(l.Term.Columns(), b.Term.Columns()[0])
	})
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// quoted writes a column's name in the formula language, whatever it holds.
func quoted(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
