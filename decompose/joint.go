package decompose

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Joint is what standard errors of differences of two decompositions A and B of the same rows
// need: their residuals r are correlated, so that squared standard errors do not add up.
// With x_i the centred columns of a decomposition and V its (X'WX + S)^-1 (or X'WX's
// pseudoinverse), row i moves a curve at columns x by x'V x_i w_i r_i, to first order, and the
// difference of two curves by the difference of these. Its standard error is the root of
// the sum of squares over the rows (a sandwich; White 1980), times sqrt(n/(n - edf)) for the
// larger edf. It takes both networks as given and smoothing bias as common to both. The parts that hierarchical terms
// give to margins are moved by w_i e_i m_i in the same way (influence.go), and the bias of smoothed splits is added,
// squared.
type Joint struct {
	sides [2]*Applier
	sums  []*mat.SymDense // of each predictor: sum_i u_i u_i', u = (-u_A, u_B) and u_A = w (r x, e_1 m_1, ...)
	edf   []float64       // n/(n - edf)
}

// maxJointNumbers is up to how many columns of both decompositions together Joint has standard errors.
const maxJointNumbers = 20_000

// NewJoint reads the rows once, through both networks: from holds them as A's network and as
// B's sees them, in one order. Predictors are matched by number.
//
// Errors: other numbers of predictors; results without moments; of reading; rows that are
// not those of both decompositions, by their number and the mean of a predictor.
func NewJoint(ctx context.Context, a, b *Applier, from [2]data.Source, weightColumn string) (*Joint, error) {
	j := &Joint{sides: [2]*Applier{a, b}}
	predictors := len(a.result.Predictors)
	if n := len(b.result.Predictors); n != predictors {
		return nil, fmt.Errorf("decompose: %d predictors in A and %d in B", predictors, n)
	}
	for k := range predictors {
		n := 0
		for s, side := range j.sides {
			d := &side.result.Predictors[k]
			if d.cov == nil && len(d.Terms) > 0 {
				return nil, fmt.Errorf("decompose: predictor %q of %s has no covariance: read the result with its moments", d.Name, "AB"[s:s+1])
			}
			columns, _, err := d.influencing()
			if err != nil {
				return nil, err
			}
			n += len(d.mean) + len(columns)
		}
		if n > maxJointNumbers {
			return nil, fmt.Errorf("decompose: predictor %q: the decompositions have %d columns together, and standard errors of their differences take a matrix of all of them with each other: at most %d; compare the decompositions without their rows", a.result.Predictors[k].Name, n, maxJointNumbers)
		}
		j.sums = append(j.sums, mat.NewSymDense(max(n, 1), nil))
		rows := float64(a.result.Rows)
		edf := math.Max(a.result.Predictors[k].EDF, b.result.Predictors[k].EDF)
		j.edf = append(j.edf, rows/math.Max(rows-edf, 1))
	}
	rows := &sameRows{positive: 0, mean: [2][]float64{make([]float64, predictors), make([]float64, predictors)}}
	if err := j.add(ctx, from, weightColumn, rows); err != nil {
		return nil, err
	}
	return j, rows.check(j)
}

// add adds up the rows.
func (j *Joint) add(ctx context.Context, from [2]data.Source, weightColumn string, rows *sameRows) error {
	s := [2]*splitter{j.sides[0].splitter(), j.sides[1].splitter()}
	defer j.sides[0].giveBack(s[0])
	defer j.sides[1].giveBack(s[1])
	read := func(i int) iter.Seq2[*data.Batch, error] {
		return data.Rebatch(from[i].Batches(ctx, union(j.sides[i].Columns(), Columns{Weights: weightColumn}.Names())), evalRows)
	}
	next, stop := iter.Pull2(read(1))
	defer stop()
	for first, err := range read(0) {
		if err != nil {
			return err
		}
		second, err, ok := next()
		if err != nil {
			return err
		}
		if !ok || second.Rows() != first.Rows() {
			return fmt.Errorf("decompose: the two networks see other numbers of rows")
		}
		w, err := weights(first, weightColumn)
		if err != nil {
			return err
		}
		var u [2][]*mat.Dense
		for i, b := range []*data.Batch{first, second} {
			if u[i], err = s[i].influences(ctx, b, w, rows.mean[i]); err != nil {
				return err
			}
		}
		for i := range first.Rows() {
			if v := weight(w, i); v > 0 {
				rows.positive, rows.weight = rows.positive+1, rows.weight+v
			}
		}
		for k := range j.sums {
			if u[0][k].IsEmpty() || u[1][k].IsEmpty() {
				continue // no term of this predictor is in both
			}
			u[0][k].Scale(-1, u[0][k])
			linalg.AddGram(j.sums[k], beside(u[0][k], u[1][k]))
		}
	}
	return nil
}

// influencing are the columns of the margins of d's terms that are split, and the term of each.
func (d *Predictor) influencing() (columns, terms []int, err error) {
	if d.split == nil {
		return nil, nil, nil
	}
	split, err := d.split.get()
	if err != nil {
		return nil, nil, err
	}
	for _, j := range split.order {
		terms = append(terms, slices.Repeat([]int{j}, len(split.h.MarginColumns(j)))...)
	}
	return split.columns(), terms, nil
}

// influences are w_i (r_i x_i, e_i1 m_i1, ...) of each predictor (n x columns), columns centred; the weighted sums
// of the predictors are added to eta.
func (s *splitter) influences(ctx context.Context, b *data.Batch, w, eta []float64) ([]*mat.Dense, error) {
	n := b.Rows()
	rows := s.forward.cut(b, 0, n)
	out, err := s.forward.run(ctx, rows, nil, 0)
	if err != nil {
		return nil, err
	}
	x, err := s.forward.eval.eval(rows)
	if err != nil {
		return nil, err
	}
	parts := new(Parts)
	s.prepare(parts, b)
	if err := s.fill(parts, 0, n, out, x); err != nil {
		return nil, err
	}
	var all []*mat.Dense
	for k := range s.result.Predictors {
		d, part := &s.result.Predictors[k], &parts.Predictors[k]
		u := &mat.Dense{}
		for _, at := range s.at[k] {
			_, width := x[at].Dims()
			dense := mat.NewDense(n, width, nil)
			if err := design.ToDense(dense, x[at]); err != nil {
				return nil, err
			}
			if u.IsEmpty() {
				u = dense
			} else {
				u = beside(u, dense)
			}
		}
		columns, terms, err := d.influencing()
		if err != nil {
			return nil, err
		}
		var e *mat.Dense
		if len(columns) > 0 {
			u = beside(u, mat.NewDense(n, len(columns), nil))
			if e, err = s.regressed(k, part.Terms.Slice(0, n, 0, len(d.Terms)), x); err != nil {
				return nil, err
			}
		}
		for i := range n {
			v := weight(w, i)
			eta[k] += v * part.Eta[i]
			for c := range d.mean {
				u.Set(i, c, u.At(i, c)-d.mean[c])
			}
			for c, a := range columns {
				u.Set(i, len(d.mean)+c, v*e.At(i, terms[c])*u.At(i, a))
			}
			for c := range d.mean {
				u.Set(i, c, v*part.Unstructured[i]*u.At(i, c))
			}
		}
		all = append(all, u)
	}
	return all, nil
}

// regressed are the values of predictor k's terms, of smoothed splits as regressions would leave them: e_ij.
func (s *splitter) regressed(k int, terms mat.Matrix, x []design.Columns) (*mat.Dense, error) {
	d, e := &s.result.Predictors[k], mat.DenseCopyOf(terms)
	split, err := d.split.get()
	if err != nil {
		return nil, err
	}
	values := make([]float64, e.RawMatrix().Rows)
	for _, j := range split.order {
		if _, smoothed := split.h.Smoothed(j); !smoothed {
			continue
		}
		if err := s.sum(values, d.regressed(split.h, j, d.mean), k, x); err != nil {
			return nil, err
		}
		e.SetCol(j, values)
	}
	return e, nil
}

// sameRows tells whether the rows are those that both results are of.
type sameRows struct {
	positive int64
	weight   float64
	mean     [2][]float64 // weighted sums of each predictor
}

func (r *sameRows) check(j *Joint) error {
	for s, side := range j.sides {
		name := "AB"[s : s+1]
		if side.result.Rows != r.positive {
			return fmt.Errorf("decompose: %s is a decomposition of %d rows, these are %d: the rows must be those of both", name, side.result.Rows, r.positive)
		}
		for k, d := range side.result.Predictors {
			if mean := r.mean[s][k] / r.weight; math.Abs(mean-d.Intercept) > 1e-6*(math.Abs(d.Intercept)+math.Sqrt(d.Variance.Total)) {
				return fmt.Errorf("decompose: the mean of predictor %q is %.6g on these rows and %.6g in %s: the rows must be those of both", d.Name, mean, d.Intercept, name)
			}
		}
	}
	return nil
}

// SE are the standard errors of the difference of B's term termB and A's term termA of
// predictor k at the rows of a grid, which has the columns that both models read; NaN
// where one of the terms is not identified.
func (j *Joint) SE(ctx context.Context, k, termA, termB int, grid *data.Batch) ([]float64, error) {
	n := grid.Rows()
	se := make([]float64, n)
	var v *mat.Dense       // n x (columns of A and of B): what a row's u is multiplied by
	var delta mat.VecDense // what smoothing the splits may have taken from B's curve, less that from A's
	for s, term := range []int{termA, termB} {
		d := &j.sides[s].result.Predictors[k]
		if !d.identified([]int{term}) {
			for i := range se {
				se[i] = math.NaN()
			}
			return se, nil
		}
		part, smoothing, err := j.sides[s].sensitivity(ctx, k, term, grid)
		if err != nil {
			return nil, err
		}
		if s == 0 {
			smoothing.ScaleVec(-1, smoothing)
			delta.CloneFromVec(smoothing)
		} else {
			delta.AddVec(&delta, smoothing)
		}
		v = beside(v, part)
	}
	spread := linalg.Times(v, j.sums[k])
	for i := range n {
		variance := math.Max(mat.Dot(v.RowView(i), spread.RowView(i)), 0) * j.edf[k]
		se[i] = math.Sqrt(variance + delta.AtVec(i)*delta.AtVec(i))
	}
	return se, nil
}

// sensitivity is how a term's curve at the rows of a grid moves with u: x'V, x being the centred columns of its pieces
// and V their coefficients' (X'WX + S)^-1, and what the splits do; and what smoothing these may have taken away.
func (a *Applier) sensitivity(ctx context.Context, k, term int, grid *data.Batch) (*mat.Dense, *mat.VecDense, error) {
	d := &a.result.Predictors[k]
	n, q := grid.Rows(), len(d.mean)
	columns, _ := a.columnsOf(ctx, d, grid.Slice(0, n)) // a grid has levels that the terms know
	var x *mat.Dense
	var at []int
	for _, p := range d.pieces([]int{term}) {
		of, err := columns(p.term)
		if err != nil {
			return nil, nil, err
		}
		own, err := denseOf(of)
		if err != nil {
			return nil, nil, err
		}
		lo := d.first(p.term)
		for c := range d.Terms[p.term].Alpha {
			at = append(at, lo+c)
			for i := range n {
				own.Set(i, c, own.At(i, c)-d.mean[lo+c])
			}
		}
		x = beside(x, own)
	}
	v, given, smoothing := mat.NewDense(len(at), q, nil), (*mat.Dense)(nil), mat.NewVecDense(n, nil)
	if d.split == nil {
		for i, c := range at {
			v.Set(i, c, 1)
		}
	} else {
		split, err := d.split.get()
		if err != nil {
			return nil, nil, err
		}
		v = d.splitMap(split, split.m, []int{term}, at)
		if given = d.givenMap(split, []int{term}, at); given != nil {
			delta := split.h.Smoothing(d.after())
			smoothing.MulVec(linalg.Times(x, given), mat.NewVecDense(len(delta), delta))
			lo := 0
			for _, j := range split.order {
				inverse := split.h.Inverse(j)
				hi := lo + inverse.SymmetricDim()
				inverse.ScaleSym(1/d.sumW, inverse)
				own := given.Slice(0, len(at), lo, hi).(*mat.Dense)
				own.Mul(mat.DenseCopyOf(own), inverse)
				lo = hi
			}
		}
	}
	moved := linalg.RowsTimes(v, d.cov)
	if d.Scale > 0 {
		moved.Scale(1/d.Scale, moved)
	} else {
		moved.Zero()
	}
	if given != nil {
		moved = beside(moved, given)
	}
	return linalg.Product(x, moved), smoothing, nil
}

// MeansOf are the weighted means of the terms over rows, by predictor, and how many rows have
// a positive weight: what A's functions say of B's rows, whatever the terms.
func (a *Applier) MeansOf(ctx context.Context, src data.Source, weightColumn string) (means [][]float64, positive int64, err error) {
	for _, d := range a.result.Predictors {
		means = append(means, make([]float64, len(d.Terms)))
	}
	sum := 0.0
	for parts, err := range a.All(ctx, src, Columns{Weights: weightColumn}.Names()...) {
		if err != nil {
			return nil, 0, err
		}
		w, err := weights(parts.Batch, weightColumn)
		if err != nil {
			return nil, 0, err
		}
		for i := range parts.Batch.Rows() {
			v := weight(w, i)
			if v == 0 {
				continue
			}
			sum, positive = sum+v, positive+1
			for k := range means {
				for j, f := range parts.Predictors[k].Row(i) {
					means[k][j] += v * f
				}
			}
		}
	}
	for k := range means {
		for j := range means[k] {
			means[k][j] /= sum
		}
	}
	return means, positive, nil
}
