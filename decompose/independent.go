package decompose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Independent are rows in which some columns are independent of each other: each has nodes, which stand for its values, and any
// Strength of the columns take each combination of nodes once.
type Independent struct {
	Strength int
	Rows     *data.Batch
	Node     map[string][]int     // of a column, by row
	Share    map[string][]float64 // of the rows of the data that a node stands for, by column
}

// WithMeans is m with the Means of its learned terms of Strength features whose margins are a term of each of them, as
// independent rows have them. Where these rows cannot tell them a term is as it was, and so is m where the network refuses the rows.
//
// Errors: a term's own, ctx.
func WithMeans(ctx context.Context, m Model, rows *Independent) (Model, error) {
	names := m.Predictors()
	joint := map[*Tap][]Block{} // and their margins
	blocks := make([][]Block, len(names))
	for k := range names {
		blocks[k] = slices.Clone(m.Blocks(k))
		terms := planned{blocks: blocks[k]}.terms()
		n := nesting(terms)
		for j, t := range terms {
			if tap, ok := t.(*Tap); ok && n.Size[j] == rows.Strength && n.Separate(j) {
				for _, margin := range n.Margins[j] {
					joint[tap] = append(joint[tap], blocks[k][margin])
				}
			}
		}
	}
	if len(joint) == 0 {
		return m, nil
	}
	values, err := rows.evaluate(ctx, m, joint)
	if err != nil || values == nil {
		return m, err
	}
	with := map[*Tap]*Tap{}
	for tap, margins := range joint {
		own := *tap
		own.Means = map[string]*mat.Dense{}
		for _, m := range margins {
			if mean := rows.means(values[tap], values[m.Term], roughness(m), tap.Features, m.Term.Columns()); mean != nil {
				own.Means[m.Term.Name()] = mean
			}
		}
		with[tap] = &own
	}
	for k := range blocks {
		for j := range blocks[k] {
			if tap, ok := blocks[k][j].Term.(*Tap); ok && with[tap] != nil {
				blocks[k][j].Term = with[tap]
			}
		}
	}
	return &extended{Model: m, blocks: blocks}, nil
}

// evaluate are the columns of the terms in all rows; nil if the network refuses them.
func (r *Independent) evaluate(ctx context.Context, m Model, joint map[*Tap][]Block) (map[Term]*mat.Dense, error) {
	n, width := r.Rows.Rows(), m.Taps()
	out := newOutputs(evalRows, len(m.Predictors()), sortedKeys(width), width)
	values := map[Term]*mat.Dense{}
	for tap, margins := range joint {
		values[tap] = mat.NewDense(n, tap.Dim(), nil)
		for _, m := range margins {
			values[m.Term] = mat.NewDense(n, m.Term.Dim(), nil)
		}
	}
	for i := 0; i < n; i += evalRows {
		b := r.Rows.Slice(i, min(i+evalRows, n))
		own := out.view(0, b.Rows())
		if err := m.Forward(ctx, own, b); err != nil {
			return nil, ctx.Err()
		}
		for name, tap := range own.Taps {
			if err := b.SetTensor(name, tap); err != nil {
				return nil, err
			}
		}
		for t, v := range values {
			if err := t.Eval(v.Slice(i, i+b.Rows(), 0, t.Dim()).(*mat.Dense), b); err != nil {
				return nil, fmt.Errorf("decompose: rows of independent columns: term %q: %w", t.Name(), err)
			}
		}
	}
	return values, nil
}

// means are the coefficients (columns of margin x columns of a joint term) of the functions of the margin's feature that are nearest
// to the means of the joint term's columns over its other features, but for constants; nil: the rows do not tell. Between the
// nodes the penalty ties a function to its values at them; nil: there is none.
func (r *Independent) means(joint, margin *mat.Dense, penalty *mat.SymDense, features, of []string) *mat.Dense {
	at, share := r.Node[of[0]], r.Share[of[0]]
	for _, f := range features {
		if r.Node[f] == nil {
			return nil
		}
	}
	_, width := joint.Dims()
	_, columns := margin.Dims()
	y, x := mat.NewDense(len(share), width, nil), mat.NewDense(len(share), columns, nil)
	for i, node := range at {
		weight := 1.0
		for _, f := range features {
			if f != of[0] {
				weight *= r.Share[f][r.Node[f][i]]
			}
		}
		for c, v := range joint.RawRowView(i) {
			y.Set(node, c, y.At(node, c)+weight*v)
		}
		x.SetRow(node, margin.RawRowView(i))
	}
	for c := range columns {
		if mat.Norm(x.ColView(c), math.Inf(1)) == 0 {
			return nil // a level that has no node
		}
	}
	centreBy(share, x)
	centreBy(share, y)
	if penalty != nil {
		x, y = tied(x, y, penalty)
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil
	}
	const tolerance = 1e-6 // units that are nearly equal tell nothing by their difference
	rank := svd.Rank(tolerance)
	if rank == 0 {
		return nil
	}
	out := new(mat.Dense)
	svd.SolveTo(out, y, rank)
	return out
}

// tied are x and y with rows below them that add a penalty to their least squares, 1e-4 of the size of x'x: little
// where there are nodes.
func tied(x, y *mat.Dense, s *mat.SymDense) (px, py *mat.Dense) {
	root := eigenRoot(s)
	_, rows := root.Dims()
	_, width := y.Dims()
	root.Scale(1e-2*mat.Norm(x, 2)/mat.Norm(root, 2), root)
	px, py = new(mat.Dense), new(mat.Dense)
	px.Stack(x, root.T())
	py.Stack(y, mat.NewDense(rows, width, nil))
	return px, py
}

// roughness is the sum of a block's penalties in its own coordinates; nil: it has none, or levels, which no penalty ties to each other.
func roughness(b Block) *mat.SymDense {
	if b.Coordinates.toRaw != nil || len(b.Penalty.S) == 0 || slices.ContainsFunc(b.Penalty.S, isDiagonal) {
		return nil
	}
	sum := mat.NewSymDense(b.Term.Dim(), nil)
	for _, s := range b.Penalty.S {
		sum.AddSym(sum, s)
	}
	if mat.Norm(sum, 2) == 0 {
		return nil
	}
	return sum
}

func isDiagonal(s mat.Symmetric) bool {
	_, ok := s.(*mat.DiagDense)
	return ok
}

// centreBy takes the mean by share from each column, and multiplies each row by the root of its share.
func centreBy(share []float64, x *mat.Dense) {
	rows, columns := x.Dims()
	for c := range columns {
		mean := 0.0
		for i := range rows {
			mean += share[i] * x.At(i, c)
		}
		for i := range rows {
			x.Set(i, c, math.Sqrt(share[i])*(x.At(i, c)-mean))
		}
	}
}
