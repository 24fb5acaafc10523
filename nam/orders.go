package nam

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// ByOrder is the decomposition of a predictor by orders of interaction (stacked
// orthogonality; Köhler, Rügamer and Schmid 2025). V_1 is the span of the constant
// and all terms of one feature, V_2 that of all terms of at most two, and so on;
//
//	G_1 = P_1 eta,  G_d = P_d eta - P_(d-1) eta,  remainder = eta - P_D eta,
//
// P_d the weighted orthogonal projection on V_d, without penalties. They are
// unique, uncorrelated and add up to eta, but G_2 is one function of all pairs: it
// has no unique part for each.
type ByOrder struct {
	Predictor string       `json:"predictor"`
	Orders    []OrderShare `json:"orders"`
	// Remainder is the part of more features, or of other functions of them.
	Remainder float64 `json:"remainder"` // variance
	Total     float64 `json:"total"`     // Var(eta), weighted: that of the orders and the remainder together
}

// OrderShare is G_d.
type OrderShare struct {
	Order    int      `json:"order"`
	Terms    []string `json:"terms"`    // that V_d has and V_(d-1) has not
	Rank     int      `json:"rank"`     // of V_d, the constant counted
	Variance float64  `json:"variance"` // of G_d
	Share    float64  `json:"share"`    // Variance / Total
}

// Orders splits eta, the whole output, of every predictor of m by orders of
// interaction, on the spaces that the blocks of m span: its own learned terms, those
// of a formula (decompose.With), or both. For a black box with the terms of a
// generalised additive model it is the surrogate's main effects next to its
// interactions. Weights and rank tolerance of o are used; penalties and smoothing
// are not.
//
// One pass accumulates the moments of all orders together. The nested projections
// are also returned as decompositions: predictor "eta, order <= d" of r has P_d eta
// as its structured part and eta - P_d eta as the unstructured one, so
// r.Applier(OrderModel) gives them for any row.
//
// Every feature of a term of two or more must have a term of its own: else main
// effects would count as interactions. That its basis contains the margin of the
// pair's is up to the caller; s(a, k=5) + s(b, k=5) + te(a, b, k=5), all with one bs,
// does it.
func Orders(ctx context.Context, m decompose.Model, src data.Source, o *decompose.Options) ([]ByOrder, *decompose.Result, error) {
	var opts decompose.Options
	if o != nil {
		opts = *o
	}
	if opts.Method != "" && opts.Method != decompose.PHO {
		return nil, nil, fmt.Errorf("nam: orders of interaction are orthogonal projections: method %q does not apply", opts.Method)
	}
	if opts.Family != nil || len(opts.WithoutIntercept) > 0 || opts.Groups != "" || opts.RefitTotal {
		return nil, nil, errors.New("nam: orders of interaction take no family, groups, refit, or projection without an intercept")
	}
	opts.Method, opts.Smoothing = decompose.PHO, decompose.Smoothing{}
	nested, err := OrderModel(m)
	if err != nil {
		return nil, nil, err
	}
	r, err := decompose.Decompose(ctx, nested, src, &opts)
	if err != nil {
		return nil, nil, err
	}
	var out []ByOrder
	names := m.Predictors()
	for i := range r.Predictors {
		d := &r.Predictors[i]
		at := nested.(*byOrder).of[i]
		if len(out) == 0 || out[len(out)-1].Predictor != names[at.predictor] {
			out = append(out, ByOrder{Predictor: names[at.predictor], Total: d.Variance.Total})
		}
		b := &out[len(out)-1]
		share := OrderShare{Order: at.order, Rank: d.Rank, Variance: d.Variance.Structured, Terms: []string{}}
		if n := len(b.Orders); n > 0 {
			share.Variance -= r.Predictors[i-1].Variance.Structured
			// Nested spaces: the difference is a sum of squares but for rounding.
			share.Variance = max(share.Variance, 0)
		}
		if b.Total > 0 {
			share.Share = share.Variance / b.Total
		}
		for _, t := range d.Terms {
			if len(distinct(t.Features)) == at.order {
				share.Terms = append(share.Terms, t.Name)
			}
		}
		b.Orders = append(b.Orders, share)
		b.Remainder = d.Variance.Unstructured
	}
	return out, r, nil
}

// OrderModel is the model that Orders decomposes: a predictor for each predictor of
// m and each order, all of them with the whole of eta as deep part.
func OrderModel(m decompose.Model) (decompose.Model, error) {
	b := &byOrder{Model: m}
	var faults []error
	for k, name := range m.Predictors() {
		var orders []int
		single := map[string]bool{}
		for _, block := range m.Blocks(k) {
			f := distinct(block.Term.Columns())
			if !slices.Contains(orders, len(f)) {
				orders = append(orders, len(f))
			}
			if len(f) == 1 {
				single[f[0]] = true
			}
		}
		slices.Sort(orders)
		if len(orders) == 0 {
			faults = append(faults, fmt.Errorf("nam: predictor %q has no terms to project on: add those of a formula", name))
			continue
		}
		for _, block := range m.Blocks(k) {
			for _, f := range distinct(block.Term.Columns()) {
				if !single[f] {
					faults = append(faults, fmt.Errorf("nam: predictor %q: term %q needs a term of %q alone next to it, or its main effect would count as an interaction", name, block.Term.Name(), f))
					single[f] = true // said once
				}
			}
		}
		for _, order := range orders {
			var blocks []decompose.Block
			for _, block := range m.Blocks(k) {
				if len(distinct(block.Term.Columns())) <= order {
					blocks = append(blocks, withoutPenalty(block))
				}
			}
			b.of = append(b.of, place{k, order})
			b.names = append(b.names, strings.TrimSpace(fmt.Sprintf("%s, order <= %d", name, order)))
			b.blocks = append(b.blocks, blocks)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return b, nil
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

// byOrder shows a model's eta once for each order.
type byOrder struct {
	decompose.Model
	names  []string
	blocks [][]decompose.Block
	of     []place
}

// place is a predictor of the model behind, and an order.
type place struct{ predictor, order int }

func (b *byOrder) Predictors() []string           { return slices.Clone(b.names) }
func (b *byOrder) Intercept(int) float64          { return 0 }
func (b *byOrder) Blocks(k int) []decompose.Block { return slices.Clone(b.blocks[k]) }

// Forward runs the model behind and shows its eta as deep part.
func (b *byOrder) Forward(ctx context.Context, dst *decompose.Outputs, rows *data.Batch) error {
	n, width := rows.Rows(), len(b.Model.Predictors())
	if n == 0 {
		return ctx.Err()
	}
	own := &decompose.Outputs{Zeta: mat.NewDense(n, width, nil), Eta: mat.NewDense(n, width, nil), Taps: dst.Taps}
	if err := b.Model.Forward(ctx, own, rows); err != nil {
		return err
	}
	for i := range n {
		for k, at := range b.of {
			eta := own.Eta.At(i, at.predictor)
			dst.Zeta.Set(i, k, eta)
			dst.Eta.Set(i, k, eta)
		}
	}
	return nil
}
