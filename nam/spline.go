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

// splined keeps the learned terms of m and adds splines of their features.
func splined(ctx context.Context, m decompose.Model, src data.Source, o Options) (decompose.Model, []string, error) {
	if src == nil {
		return nil, nil, errors.New("nam: the splines of PHONAM need rows to place their knots by, and there is no source")
	}
	var notes []string
	r := &rewritten{Model: m}
	texts := make([][]string, len(m.Predictors())) // the terms to make, by predictor
	specs := map[string]decompose.Spec{}
	var order []string
	for k, name := range m.Predictors() {
		blocks := slices.Clone(m.Blocks(k))
		given := slices.ContainsFunc(blocks, func(b decompose.Block) bool { return !learned(b) && b.Coef == nil })
		if !given {
			var left []string
			texts[k], left = splinesOf(blocks, o)
			if len(left) > 0 {
				notes = append(notes, fmt.Sprintf("%s: there is no spline for terms of three or more features: %s is as the network has it", name, strings.Join(left, ", ")))
			}
		}
		for j := range blocks {
			b := &blocks[j]
			if learned(*b) || !given && coveredBy(*b, blocks) {
				*b = decompose.Block{Term: b.Term, Coef: b.Coef, Constraint: decompose.Kept()}
			}
		}
		r.blocks = append(r.blocks, blocks)
		for _, text := range texts[k] {
			if specs[text] != nil {
				continue
			}
			f, err := basis.Parse("~ "+text, &basis.Options{Schema: src.Schema()})
			if err != nil {
				return nil, nil, fmt.Errorf("nam: predictor %q: %w", name, err)
			}
			specs[text], order = f.Specs[0], append(order, text)
		}
	}
	made, err := prepare(ctx, m, src, order, specs, o.Decompose)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range order {
		notes = append(notes, made[text].Notes...)
	}
	extra := map[string][]decompose.Block{}
	for k, name := range m.Predictors() {
		for _, text := range texts[k] {
			extra[name] = append(extra[name], made[text].Blocks...)
		}
	}
	with, err := decompose.With(r, extra)
	return with, notes, err
}

// prepare makes the terms in one go, so that they see the same rows as the passes to
// come, each once: predictors share terms.
func prepare(ctx context.Context, m decompose.Model, src data.Source, order []string, specs map[string]decompose.Spec, o *decompose.Options) (map[string]decompose.Prepared, error) {
	reads := slices.Clone(m.Columns())
	if o != nil {
		reads = append(reads, o.Columns.Names()...)
	}
	var all []decompose.Spec
	for _, text := range order {
		all = append(all, specs[text])
	}
	prepared, err := decompose.PrepareEach(ctx, src, all, reads)
	if err != nil {
		return nil, fmt.Errorf("nam: the splines of PHONAM: %w", err)
	}
	made := map[string]decompose.Prepared{}
	for i, text := range order {
		made[text] = prepared[i]
	}
	return made, nil
}

// splinesOf writes a term for each set of features of learned terms, features
// before pairs; left are the terms of more features. A pair is a full tensor
// product, te, unless its features have splines of their own: with both of them ti,
// with one of them te, of which the engine takes out what the spline has.
func splinesOf(blocks []decompose.Block, o Options) (texts, left []string) {
	single := map[string]bool{}
	var pairs [][]string
	for _, b := range blocks {
		if !learned(b) {
			continue
		}
		switch f := b.Term.Columns(); len(f) {
		case 1:
			if !single[f[0]] {
				texts = append(texts, fmt.Sprintf("s(%s, bs=%q, k=%d)", quoted(f[0]), o.Basis, o.K))
			}
			single[f[0]] = true
		case 2:
			if !slices.ContainsFunc(pairs, func(p []string) bool { return sameSet(p, f) }) {
				pairs = append(pairs, f)
			}
		default:
			left = append(left, b.Term.Name())
		}
	}
	for _, f := range pairs {
		kind := "te"
		if single[f[0]] && single[f[1]] {
			kind = "ti"
		}
		texts = append(texts, fmt.Sprintf("%s(%s, %s, bs=%q, k=%d)", kind, quoted(f[0]), quoted(f[1]), o.Basis, o.PairK))
	}
	return texts, left
}

// coveredBy tells whether b is the network's own line of a feature that gets a
// spline.
func coveredBy(b decompose.Block, blocks []decompose.Block) bool {
	return b.Term.Kind() == decompose.Linear && slices.ContainsFunc(blocks, func(l decompose.Block) bool {
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
