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
// where P_d is the weighted orthogonal projection on V_d, without penalties. The G_d are
// unique, uncorrelated and add up to eta with the remainder. G_2 is one function of all
// pairs together: no part of it belongs to one pair alone.
type ByOrder struct {
	Predictor string       `json:"predictor"`
	Orders    []OrderShare `json:"orders"`
	// Remainder is the variance of what no term can express: interactions of more features,
	// and other functions of them. Total is Var(eta), weighted, the sum of all.
	Remainder float64 `json:"remainder"`
	Total     float64 `json:"total"`
}

// OrderShare is G_d, the part of order d.
type OrderShare struct {
	Order    int      `json:"order"`
	Terms    []string `json:"terms"`    // that V_d has and V_(d-1) has not
	Rank     int      `json:"rank"`     // of V_d, the constant counted
	Variance float64  `json:"variance"` // of G_d
	Share    float64  `json:"share"`    // Variance / Total
}

// Orders splits eta, the whole output, of every predictor of m by orders of
// interaction, on the spaces that the terms of m span: its own learned terms, those
// of a formula (decompose.With), or both. Weights and rank tolerance of o are used, nil
// being the defaults; penalties and smoothing are not.
//
// The result r holds the nested projections as decompositions: predictor "eta, order <= d"
// has P_d eta as its structured part and eta - P_d eta as the unstructured one, so
// r.Applier(OrderModel) gives them for any row. One pass accumulates the moments of all
// orders together.
//
// Every feature of a term of two or more must have a term of its own, or it is an error:
// else main effects would count as interactions. That the basis of the one contains the
// margins of the other's is up to the caller: as in s(a, k=5) + s(b, k=5) + te(a, b, k=5),
// all with one bs.
func Orders(ctx context.Context, m decompose.Model, src data.Source, o *decompose.Options) ([]ByOrder, *decompose.Result, error) {
	opts, err := orderOptions(o)
	if err != nil {
		return nil, nil, err
	}
	nested, err := OrderModel(m)
	if err != nil {
		return nil, nil, err
	}
	r, err := decompose.Decompose(ctx, nested, src, opts)
	if err != nil {
		return nil, nil, err
	}
	return byOrders(m.Predictors(), r, nested.(*orderModel).parts), r, nil
}

// orderOptions are those of o that orders take: an error for what does not apply.
func orderOptions(o *decompose.Options) (*decompose.Options, error) {
	var opts decompose.Options
	if o != nil {
		opts = *o
	}
	if opts.Method != "" && opts.Method != decompose.PHO {
		return nil, fmt.Errorf("nam: orders of interaction are orthogonal projections: method %q does not apply", opts.Method)
	}
	if opts.Family != nil || len(opts.WithoutIntercept) > 0 || opts.Groups != "" || opts.RefitTotal {
		return nil, errors.New("nam: orders of interaction take no family, groups, refit, or projection without an intercept")
	}
	opts.Method, opts.Smoothing = decompose.PHO, decompose.Smoothing{}
	return &opts, nil
}

// byOrders reads the variances of the orders off the nested projections r: parts[i] says
// of what predictor and order r.Predictors[i] is.
func byOrders(names []string, r *decompose.Result, parts []orderPart) []ByOrder {
	var out []ByOrder
	for i := range r.Predictors {
		d, at := &r.Predictors[i], parts[i]
		if len(out) == 0 || out[len(out)-1].Predictor != names[at.predictor] {
			out = append(out, ByOrder{Predictor: names[at.predictor], Total: d.Variance.Total})
		}
		b := &out[len(out)-1]
		share := OrderShare{Order: at.order, Rank: d.Rank, Variance: d.Variance.Structured, Terms: []string{}}
		if len(b.Orders) > 0 {
			// Nested spaces: the difference is a sum of squares but for rounding.
			share.Variance = max(share.Variance-r.Predictors[i-1].Variance.Structured, 0)
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
	return out
}

// OrderModel is the model that Orders decomposes. It has a predictor for each predictor of
// m and each order; the deep part of each is the whole of eta, its terms are those of at
// most that many features.
func OrderModel(m decompose.Model) (decompose.Model, error) {
	b := &orderModel{Model: m}
	var faults []error
	for k, name := range m.Predictors() {
		all := m.Blocks(k)
		faults = append(faults, lacksMargins(name, all)...)
		for _, order := range ordersOf(all) {
			var blocks []decompose.Block
			for _, block := range all {
				if len(distinct(block.Term.Columns())) <= order {
					blocks = append(blocks, withoutPenalty(block))
				}
			}
			b.parts = append(b.parts, orderPart{k, order})
			b.names = append(b.names, strings.TrimSpace(fmt.Sprintf("%s, order <= %d", name, order)))
			b.blocks = append(b.blocks, blocks)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return b, nil
}

// ordersOf are the numbers of features that terms have, ascending.
func ordersOf(blocks []decompose.Block) []int {
	var orders []int
	for _, b := range blocks {
		if n := len(distinct(b.Term.Columns())); !slices.Contains(orders, n) {
			orders = append(orders, n)
		}
	}
	slices.Sort(orders)
	return orders
}

// lacksMargins says which features of a predictor's terms have no term of their own, each
// once.
func lacksMargins(predictor string, blocks []decompose.Block) (faults []error) {
	if len(blocks) == 0 {
		return []error{fmt.Errorf("nam: predictor %q has no terms to project on: add those of a formula", predictor)}
	}
	known := map[string]bool{}
	for _, b := range blocks {
		if f := distinct(b.Term.Columns()); len(f) == 1 {
			known[f[0]] = true
		}
	}
	for _, b := range blocks {
		for _, f := range distinct(b.Term.Columns()) {
			if !known[f] {
				faults = append(faults, fmt.Errorf("nam: predictor %q: term %q needs a term of %q alone next to it, or its main effect would count as an interaction", predictor, b.Term.Name(), f))
				known[f] = true
			}
		}
	}
	return faults
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
