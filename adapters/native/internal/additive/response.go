package additive

import (
	"context"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// response is a column seen as the predictor of a model that has formula terms
// only: decomposing it with penalties fits an additive model to the column.
type response struct {
	column string
	blocks []decompose.Block
}

func (r *response) Predictors() []string         { return []string{"eta"} }
func (r *response) Columns() []string            { return []string{r.column} }
func (r *response) Intercept(int) float64        { return 0 }
func (r *response) Blocks(int) []decompose.Block { return r.blocks }
func (r *response) Taps() map[string]int         { return nil }
func (r *response) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	y, err := b.Numeric(r.column)
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, y)
	dst.Eta.SetCol(0, y)
	return nil
}
