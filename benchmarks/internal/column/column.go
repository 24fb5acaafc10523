// Package column has a network that is a column of the rows, so that what is timed is not the
// network's.
package column

import (
	"context"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Network is a network whose output is the column of that name: its decomposition under a
// penalty is the additive model of the column.
type Network string

// Predictors is one, eta.
func (Network) Predictors() []string { return []string{"eta"} }

// Columns is the column.
func (n Network) Columns() []string { return []string{string(n)} }

// Intercept is none.
func (Network) Intercept(int) float64 { return 0 }

// Blocks are none.
func (Network) Blocks(int) []decompose.Block { return nil }

// Taps are none.
func (Network) Taps() map[string]int { return nil }

// Forward copies the column.
func (n Network) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	v, err := b.Numeric(string(n))
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, v)
	dst.Eta.SetCol(0, v)
	return nil
}

// With is the network with a formula's terms, made for the rows.
func (n Network) With(ctx context.Context, rows *data.Table, formula string) (decompose.Model, error) {
	parsed, err := basis.Parse(formula, &basis.Options{Schema: rows.Schema()})
	if err != nil {
		return nil, err
	}
	blocks, err := decompose.Prepare(ctx, rows, parsed.Specs, nil)
	if err != nil {
		return nil, err
	}
	return decompose.With(n, map[string][]decompose.Block{"": blocks})
}
