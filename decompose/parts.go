package decompose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
)

// Parts are the contributions of a chunk of n rows, on the link scale. For every
// predictor and row, Intercept + sum of Terms + Unstructured = Eta up to
// rounding of the network.
type Parts struct {
	Batch      *data.Batch // the rows, with the columns that were asked for
	Predictors []PredictorParts
}

// PredictorParts are the contributions to one predictor.
type PredictorParts struct {
	Intercept    float64
	Terms        *mat.Dense // n x J, centred over the training rows; empty if J = 0 (see Row)
	SE           *mat.Dense // n x J standard errors of Terms (see Effect); nil unless asked for (Applier.WithErrors)
	Unstructured []float64  // n: zeta - (alpha_0 + X alpha), alpha of the training rows
	Eta          []float64  // n: the network's own output
}

// splitter computes parts for one worker. Terms of several predictors are
// evaluated once.
type splitter struct {
	result  *Result
	terms   *plan
	at      [][]int // term index of each term of each predictor
	forward *forward
	values  []float64                 // of a term at evalRows rows
	columns []float64                 // contributions at evalRows rows, one term after the other
	errors  [][]errorForm             // by predictor and term; nil: none
	spans   []float64                 // standard errors at evalRows rows, one term after the other
	forms   [][]*design.QuadraticWork // of errors, made when they are needed
	pieces  []design.Columns
	bands   *sandwichWorker // of the last pass; nil: none
	spread  [][][]float64   // see residuals

	exchanges [][]exchange // by predictor and term; nil of a predictor without margins
	moved     []float64    // mean of what was moved to all terms, by predictor
	own       [][]bool     // terms of which the network has a part
}

func (r *Result) splitter(m Model, p *plan, at [][]int) *splitter {
	s := &splitter{result: r, terms: p, at: at, forward: newForward(m, p), values: make([]float64, evalRows)}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		s.exchanges, s.moved = append(s.exchanges, d.exchanges()), append(s.moved, d.meanMoved())
		own := make([]bool, len(d.Terms))
		for j := range own {
			own[j] = anyNonZero(d.Terms[j].Beta)
		}
		s.own = append(s.own, own)
	}
	return s
}

// layout lists the result's distinct terms.
func (r *Result) layout() (*plan, [][]int) {
	p := &plan{index: map[Term]int{}}
	at := make([][]int, len(r.Predictors))
	for k, d := range r.Predictors {
		for _, t := range d.Terms {
			p.add(t.term)
			at[k] = append(at[k], p.index[t.term])
		}
	}
	return p, at
}

// split computes the parts of the rows of b, in the memory of parts where that is
// large enough; stored outputs (nil: the network runs) are those of the same rows.
func (s *splitter) split(ctx context.Context, parts *Parts, b *data.Batch, stored *Outputs) error {
	s.prepare(parts, b)
	return s.rows(ctx, parts, b, 0, b.Rows(), stored)
}

// rows computes the parts of rows from to to-1 of b, from a multiple of evalRows on.
func (s *splitter) rows(ctx context.Context, parts *Parts, b *data.Batch, from, to int, stored *Outputs) error {
	for i := from; i < to; i += evalRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := s.forward.cut(b, i, min(i+evalRows, to))
		out, err := s.forward.at(ctx, rows, stored, nil, i)
		if err != nil {
			return err
		}
		x, err := s.forward.eval.eval(rows)
		if err != nil {
			return err
		}
		if err := s.fill(parts, i, rows.Rows(), out, x); err != nil {
			return err
		}
		s.withoutUnseen(parts, i, rows.Rows())
		if s.bands == nil {
			continue
		}
		residuals, err := s.residuals(parts, i, rows.Rows(), out, x)
		if err != nil {
			return err
		}
		if err := s.bands.add(rows, residuals, x); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes parts fit the rows of b.
func (s *splitter) prepare(parts *Parts, b *data.Batch) {
	n := b.Rows()
	parts.Batch = b
	if len(parts.Predictors) != len(s.result.Predictors) {
		parts.Predictors = make([]PredictorParts, len(s.result.Predictors))
	}
	for k := range parts.Predictors {
		d, part := &s.result.Predictors[k], &parts.Predictors[k]
		part.Intercept = d.Intercept
		part.Unstructured, part.Eta = sized(part.Unstructured, n), sized(part.Eta, n)
		part.Terms = resize(part.Terms, n, len(d.Terms))
		if s.errors == nil || len(d.Terms) == 0 {
			part.SE = nil
		} else {
			part.SE = resize(part.SE, n, len(d.Terms))
		}
	}
}

// sized is n numbers, in v's memory if that is large enough.
func sized(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

// fill computes rows i to i+n-1 of the parts.
func (s *splitter) fill(parts *Parts, i, n int, out *Outputs, x []design.Columns) error {
	for k := range parts.Predictors {
		d, part := &s.result.Predictors[k], &parts.Predictors[k]
		unstructured := part.Unstructured[i : i+n]
		mat.Col(part.Eta[i:i+n], k, out.Eta)
		mat.Col(unstructured, k, out.Zeta)
		floats.AddConst(-s.moved[k], unstructured)
		s.columns = sized(s.columns, n*len(d.Terms))
		for j := range d.Terms {
			at := x[s.at[k][j]]
			if err := s.contribution(s.columns[j*n:][:n], unstructured, &d.Terms[j], s.own[k][j], at); err != nil {
				return fmt.Errorf("decompose: term %q: %w", d.Terms[j].Name, err)
			}
			if s.exchanges[k] != nil {
				if err := s.exchange(s.columns[j*n:][:n], k, j, x); err != nil {
					return fmt.Errorf("decompose: term %q: %w", d.Terms[j].Name, err)
				}
			}
		}
		transpose(rowsOf(part.Terms, i), s.columns, n)
		if s.errors != nil && len(d.Terms) > 0 {
			if err := s.standardErrors(rowsOf(part.SE, i), n, k, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// contribution sets dst to term t's at the rows of x, and takes what was moved to
// the term from their unstructured part; own: the network has a part of the term.
func (s *splitter) contribution(dst, unstructured []float64, t *TermResult, own bool, x design.Columns) error {
	if err := s.multiply(dst, x, t.Alpha); err != nil {
		return err
	}
	// Both parts are centred before they meet others: where a column is far from 0 its
	// product with a coefficient is large, and would leave its rounding in the sums.
	moved, centre := t.meanMoved(), t.Center
	if own {
		centre -= t.Before.Mean
	}
	for r, v := range dst {
		unstructured[r] -= v - moved
		dst[r] = v - centre
	}
	if !own {
		return nil
	}
	values := s.values[:len(dst)]
	if err := s.multiply(values, x, t.Beta); err != nil {
		return err
	}
	for r, v := range values {
		dst[r] += v - t.Before.Mean
	}
	return nil
}

// exchange adds to dst the parts that term j of predictor k has from others, and takes away the
// parts of its margins.
func (s *splitter) exchange(dst []float64, k, j int, x []design.Columns) error {
	e, values := &s.exchanges[k][j], s.values[:len(dst)]
	if e.received != nil {
		if err := s.multiply(values, x[s.at[k][j]], e.received); err != nil {
			return err
		}
		floats.Add(dst, values)
	}
	for i, m := range e.margins {
		if !anyNonZero(m.Coef) {
			continue
		}
		if err := s.multiply(values, x[s.at[k][e.given[i]]], m.Coef); err != nil {
			return err
		}
		floats.Sub(dst, values)
	}
	return nil
}

// meanMoved is the mean of what was moved to the term, Phi alpha; with margins that of the
// hierarchical term, the sum over all terms being the same.
func (t *TermResult) meanMoved() float64 {
	if t.Moved == (Moment{}) { // an artifact that does not tell
		return t.Center - t.Before.Mean
	}
	return t.Moved.Mean
}

// meanMoved is the mean of what was moved to all of the predictor, alpha_0 + X alpha.
// The intercepts have it free of rounding, for columns far from 0; if they differ from
// the sum by more than rounding, the sum counts, so that the parts show the fault.
func (d *Predictor) meanMoved() float64 {
	sum, size := d.InterceptMoved, math.Abs(d.InterceptMoved)
	for j := range d.Terms {
		m := d.Terms[j].meanMoved()
		sum, size = sum+m, size+math.Abs(m)
	}
	exact := d.Intercept - d.InterceptBefore
	if size += math.Abs(d.Intercept) + math.Abs(d.InterceptBefore); math.Abs(exact-sum) <= 1e-13*size {
		return exact
	}
	return sum
}

// transpose writes columns of n numbers, one after the other, as rows, eight at a
// time: so many share the lines of the cache that they are in.
func transpose(rows, columns []float64, n int) {
	if n == 0 {
		return
	}
	width := len(columns) / n
	i := 0
	for ; i+8 <= n; i += 8 {
		for j := range width {
			v, to := columns[j*n+i:][:8], rows[i*width+j:][:7*width+1]
			to[0] = v[0]
			to[width] = v[1]
			to[2*width] = v[2]
			to[3*width] = v[3]
			to[4*width] = v[4]
			to[5*width] = v[5]
			to[6*width] = v[6]
			to[7*width] = v[7]
		}
	}
	for ; i < n; i++ {
		for j := range width {
			rows[i*width+j] = columns[j*n+i]
		}
	}
}

// multiply is design.MulVec; a single column, of which networks have many, needs
// no product of rows.
func (s *splitter) multiply(dst []float64, x design.Columns, coef []float64) error {
	if d, ok := x.(design.Dense); ok && len(coef) == 1 {
		if m := d.RawMatrix(); m.Rows == len(dst) && m.Cols == 1 && m.Stride == 1 {
			floats.ScaleTo(dst, coef[0], m.Data)
			return nil
		}
	}
	return design.MulVec(dst, x, coef)
}

// rowsOf is the memory of m from row i on, nil if m is empty.
func rowsOf(m *mat.Dense, i int) []float64 {
	if m.IsEmpty() {
		return nil
	}
	raw := m.RawMatrix()
	return raw.Data[i*raw.Stride:]
}

func anyNonZero(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

// Row returns row i of Terms (J values, shared), nil if there are no terms.
func (d *PredictorParts) Row(i int) []float64 {
	if d.Terms.IsEmpty() {
		return nil
	}
	return d.Terms.RawRowView(i)
}

// Clone returns a copy of the numbers; the batch is shared. What a Visitor keeps
// beyond Map has to be one.
func (p *Parts) Clone() *Parts {
	c := &Parts{Batch: p.Batch, Predictors: slices.Clone(p.Predictors)}
	for k := range c.Predictors {
		d := &c.Predictors[k]
		d.Unstructured, d.Eta = slices.Clone(d.Unstructured), slices.Clone(d.Eta)
		d.Terms, d.SE = copyOf(d.Terms), copyOf(d.SE)
	}
	return c
}

// copyOf is nil of nil, and empty of an empty matrix.
func copyOf(m *mat.Dense) *mat.Dense {
	switch {
	case m == nil:
		return nil
	case m.IsEmpty():
		return &mat.Dense{}
	}
	return mat.DenseCopyOf(m)
}

// Sum is the sum of row i's parts of predictor k.
func (p *Parts) Sum(k, i int) float64 {
	d := &p.Predictors[k]
	return d.Intercept + floats.Sum(d.Row(i)) + d.Unstructured[i]
}
