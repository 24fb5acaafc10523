package nam_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// judged is a predictor's orders by a decomposition of their own for each order: the slow
// way, on the terms alone, that decompose's orders, which come from the moments of one
// decomposition, are held against.
type judged struct {
	Orders           []decompose.Order
	Ranks            []int
	Variances        []float64
	Remainder, Total float64
}

// judge projects eta of every predictor on its terms of at most 1, 2, ... columns. r holds
// the nested projections.
func judge(t testing.TB, m decompose.Model, src data.Source, weights string) (out []judged, r *decompose.Result, nested *orderModel) {
	t.Helper()
	nested = newOrderModel(m)
	r, err := decompose.Decompose(t.Context(), nested, src, &decompose.Options{
		Projection: decompose.Projection{Method: decompose.PHO}, Columns: decompose.Columns{Weights: weights}})
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for i := range r.Predictors {
		d, at := &r.Predictors[i], nested.parts[i]
		if at.predictor != last {
			out, last = append(out, judged{Total: d.Variance.Total}), at.predictor
		}
		b := &out[len(out)-1]
		variance := d.Variance.Structured
		if len(b.Orders) > 0 {
			variance -= r.Predictors[i-1].Variance.Structured
		}
		share := decompose.Order{Order: at.order, Share: variance / b.Total, Terms: []string{}}
		for _, t := range d.Terms {
			if len(t.Features) == at.order {
				share.Terms = append(share.Terms, t.Name)
			}
		}
		b.Orders, b.Ranks, b.Variances = append(b.Orders, share), append(b.Ranks, d.Rank), append(b.Variances, variance)
		b.Remainder = d.Variance.Unstructured
	}
	return out, r, nested
}

func newOrderModel(m decompose.Model) *orderModel {
	b := &orderModel{Model: m}
	for k, name := range m.Predictors() {
		all := m.Blocks(k)
		for _, order := range ordersOf(all) {
			var blocks []decompose.Block
			for _, block := range all {
				if len(block.Term.Columns()) <= order {
					blocks = append(blocks, withoutPenalty(block))
				}
			}
			b.parts = append(b.parts, orderPart{k, order})
			b.names = append(b.names, strings.TrimSpace(fmt.Sprintf("%s, order <= %d", name, order)))
			b.blocks = append(b.blocks, blocks)
		}
	}
	return b
}

// ordersOf are the numbers of features that terms have, ascending.
func ordersOf(blocks []decompose.Block) []int {
	var orders []int
	for _, b := range blocks {
		if n := len(b.Term.Columns()); !slices.Contains(orders, n) {
			orders = append(orders, n)
		}
	}
	slices.Sort(orders)
	return orders
}

// withoutPenalty is the space of block b alone.
func withoutPenalty(b decompose.Block) decompose.Block {
	b.Penalty, b.Select, b.Coef = penalty.Penalty{}, false, nil
	if b.Coordinates.Standardised() {
		b.Coordinates = decompose.Raw()
	}
	if b.Constraint.Equal(decompose.Kept()) {
		b.Constraint = decompose.Free()
	}
	return b
}

// orderModel shows a model's eta once for each order.
type orderModel struct {
	decompose.Model
	names  []string
	blocks [][]decompose.Block
	parts  []orderPart
}

// orderPart is a predictor of the model behind, and an order.
type orderPart struct{ predictor, order int }

func (b *orderModel) Predictors() []string           { return slices.Clone(b.names) }
func (b *orderModel) Intercept(int) float64          { return 0 }
func (b *orderModel) Blocks(k int) []decompose.Block { return slices.Clone(b.blocks[k]) }

// Forward runs the model behind and shows its eta as deep part.
func (b *orderModel) Forward(ctx context.Context, dst *decompose.Outputs, rows *data.Batch) error {
	n, width := rows.Rows(), len(b.Model.Predictors())
	if n == 0 {
		return ctx.Err()
	}
	own := &decompose.Outputs{Zeta: mat.NewDense(n, width, nil), Eta: mat.NewDense(n, width, nil), Taps: dst.Taps}
	if err := b.Model.Forward(ctx, own, rows); err != nil {
		return err
	}
	for i := range n {
		for k, at := range b.parts {
			eta := own.Eta.At(i, at.predictor)
			dst.Zeta.Set(i, k, eta)
			dst.Eta.Set(i, k, eta)
		}
	}
	return nil
}
