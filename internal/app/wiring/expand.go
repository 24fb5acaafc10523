package wiring

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/decompose"
)

// expand puts terms in place of "." in the formulas, and asks for "~ ." where a network
// without structure comes without a formula. "." are the columns that the network reads, without
// columns that the formula names or that have a role. Without a formula a network whose learned functions of
// several columns may hold main effects gets "~ ." of these columns (impure), without columns that have missing
// values, which no term takes.
func (q *Request) expand(ctx context.Context, m decompose.Model) (chosen, leftOut []string, err error) {
	var only []string // nil: all
	if len(q.Formulas) == 0 {
		if only = q.impure(m); len(only) > 0 || blackBox(m) {
			q.Formulas, q.unasked = []string{"~ ."}, true
		}
	}
	q.Formulas = slices.Clone(q.Formulas)
	for i, text := range q.Formulas {
		f, err := formula.Parse(text)
		if err != nil {
			return nil, nil, optionError("formula", err)
		}
		if f.Others == nil {
			continue
		}
		for _, n := range f.Others.Without {
			if err := checkColumn(q.Rows.Schema(), n.Text, false); err != nil {
				return nil, nil, optionError("formula", err)
			}
		}
		taken := slices.Concat(f.Names(), q.Options.Columns.Names(), []string{f.Response})
		columns := slices.DeleteFunc(q.explaining(m), func(c string) bool {
			return slices.Contains(taken, c) || len(only) > 0 && !slices.Contains(only, c)
		})
		look := "choice of terms"
		if len(chosen) > 0 {
			look = fmt.Sprintf("%s %d", look, len(chosen)+1)
		}
		p, err := propose.TermsFrom(ctx, q.scans(q.Rows), look, q.Rows.Schema(), columns, q.Factors, len(only) > 0)
		if err != nil {
			return nil, nil, fmt.Errorf("choosing the terms of the formula: %w", err)
		}
		if len(only) > 0 && len(p.Terms) == 0 {
			q.Formulas, q.unasked = nil, false
			return nil, []string{p.String()}, nil
		}
		if f, err = f.Expand(p.Terms); err != nil {
			return nil, nil, fmt.Errorf("choosing the terms of the formula: %w", err)
		}
		q.Formulas[i] = f.String()
		for len(q.chosen) <= i {
			q.chosen = append(q.chosen, nil)
		}
		q.chosen[i] = smoothsOf(p.Terms)
		chosen = append(chosen, f.String())
		if left := p.String(); left != "" {
			leftOut = append(leftOut, left)
		}
	}
	return chosen, leftOut, nil
}

// writeRanges writes the columns out that ranges in the formulas stand for: the result keeps
// them, so that it does not hang on the order of columns of other data.
func (q *Request) writeRanges() error {
	q.Formulas = slices.Clone(q.Formulas)
	for i, text := range q.Formulas {
		f, err := formula.Parse(text)
		if err != nil {
			return optionError("formula", err)
		}
		own, err := basis.WithRanges(f, q.Rows.Schema(), append(q.notInputs(), f.Response, f.Event)...)
		if err != nil {
			return optionError("formula", err)
		}
		if own != f {
			q.Formulas[i] = own.String()
		}
	}
	return nil
}

// withoutDot is the text of a formula without ".", if it has one.
func withoutDot(text string) (string, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return "", optionError("formula", err)
	}
	if f.Others == nil {
		return text, nil
	}
	own, err := f.Expand(nil)
	if err != nil {
		return "", optionError("formula", err)
	}
	return own.String(), nil
}

// blackBox reports whether the network has no terms of its own.
func blackBox(m decompose.Model) bool {
	for k := range m.Predictors() {
		if len(m.Blocks(k)) > 0 {
			return false
		}
	}
	return true
}
