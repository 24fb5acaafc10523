package native

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// expand puts terms in place of "." in the formulas: of all columns that the formula does not
// name, that have no feature network and no other role, chosen as in package propose by all
// rows of src, which are read once more for it. Formulas with a fault stay as they are, for
// validate to tell.
func (c *Config) expand(ctx context.Context, src data.Source, fit *Fit) error {
	c.Structured.Formulas = slices.Clone(c.Structured.Formulas)
	taken := []string{c.Response, c.Event, c.Weights, c.Offset}
	for _, text := range c.Structured.Formulas {
		if f, err := formula.Parse(text); err == nil {
			taken = append(taken, f.Response, f.Event)
		}
	}
	for i, text := range c.Structured.Formulas {
		f, err := formula.Parse(text)
		if err != nil || f.Others == nil {
			continue
		}
		if f, err = basis.WithRanges(f, src.Schema(), taken...); err != nil {
			return err
		}
		for _, n := range f.Others.Without {
			if _, ok := src.Schema().Lookup(n.Text); !ok {
				return f.Errorf(n.Pos, "no column %q in the data, which has %.200q", n.Text, src.Schema().Names())
			}
		}
		own := slices.Concat(taken, f.Names(), c.FeatureNetworks.Columns)
		columns := slices.DeleteFunc(src.Schema().Names(), func(name string) bool { return slices.Contains(own, name) })
		p, err := propose.TermsFrom(ctx, decompose.RowScans(src), "choice of terms", src.Schema(), columns, c.Structured.Factors, false)
		if err != nil {
			return fmt.Errorf("native: choosing the terms of %q: %w", text, err)
		}
		if f, err = f.Expand(p.Terms); err != nil {
			return fmt.Errorf("native: choosing the terms of %q: %w", text, err)
		}
		c.Structured.Formulas[i] = f.String()
		fit.Chosen = append(fit.Chosen, f.String())
		if left := p.String(); left != "" {
			fit.LeftOut = append(fit.LeftOut, left)
		}
	}
	return nil
}
