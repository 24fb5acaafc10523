package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/decompose"
)

// DifferenceErrors are standard errors of the differences of the curves of two decompositions
// of the same rows, on the grid of effects.csv: curves without values, for compare.Joint. a and
// b are the appliers of r and s. Terms that are not in both, or have no grid, have none. The only
// error is that of ctx.
func DifferenceErrors(ctx context.Context, r, s *decompose.Result, a, b *decompose.Applier, j *decompose.Joint) ([]compare.Curve, error) {
	g := newGrids(r, a)
	for _, name := range b.Columns() { // that B's network reads
		if !slices.Contains(g.columns, name) {
			g.columns = append(slices.Clip(g.columns), name)
		}
	}
	var out []compare.Curve
	for k := range r.Predictors {
		d, e := &r.Predictors[k], &s.Predictors[k]
		for i := range d.Terms {
			l := compare.Counterpart(d, e, i)
			if l < 0 {
				continue
			}
			effect, rows, err := g.grid(&d.Terms[i], d.Means(i))
			if err != nil {
				continue
			}
			se, err := j.SE(ctx, k, i, l, rows)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("report: %w", ctx.Err())
			}
			if err != nil {
				continue
			}
			c := compare.Curve{Predictor: d.Name, Term: d.Terms[i].Name, SE: se}
			for p := range effect.X.Len() {
				c.X = append(c.X, effect.X.text(p))
			}
			if effect.X2 != nil {
				for p := range effect.X2.Len() {
					c.X2 = append(c.X2, effect.X2.text(p))
				}
			}
			out = append(out, c)
		}
	}
	return out, nil
}
