// Package decomposetest checks anyone's Term or Model against the laws that
// package decompose relies on, in the style of testing/fstest: each function
// returns an error that lists every law that was broken and where.
package decomposetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

// faults collects broken laws.
type faults struct {
	what string
	errs []error
}

func (f *faults) add(format string, args ...any) {
	if len(f.errs) < 20 {
		f.errs = append(f.errs, fmt.Errorf(f.what+": "+format, args...))
	}
}

// Term checks t at the rows of b:
//
//   - it has a name, a kind and at least one column;
//   - Eval overwrites whatever dst held, with finite values;
//   - a row's values depend on that row alone: rows taken one by one, or in
//     other company, give the same bits;
//   - it may be used from many goroutines;
//   - EvalSparse, if there is one, gives the values of Eval, as do EvalSparseInto and EvalProduct;
//   - a batch without its columns is an error, not a panic.
func Term(t decompose.Term, b *data.Batch) error {
	f := &faults{what: fmt.Sprintf("term %q", t.Name())}
	if t.Name() == "" {
		f.add("has no name")
	}
	if t.Kind() == "" {
		f.add("has no kind")
	}
	n, d := b.Rows(), t.Dim()
	if d < 1 {
		f.add("Dim is %d, want at least 1", d)
		return errors.Join(f.errs...)
	}
	if n == 0 {
		return errors.New("decomposetest: need at least one row to test with")
	}
	whole, err := eval(t, b)
	if err != nil {
		f.add("Eval: %w", err)
		return errors.Join(f.errs...)
	}
	for i := range n {
		for j, v := range whole.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				f.add("row %d, column %d is %g: Eval must overwrite dst with finite values", i, j, v)
			}
		}
	}
	for i := range n {
		one, err := eval(t, b.Slice(i, i+1))
		if err != nil {
			f.add("Eval of row %d alone: %w", i, err)
			continue
		}
		if j := differs(one.RawRowView(0), whole.RawRowView(i)); j >= 0 {
			f.add("row %d, column %d is %v in the batch and %v alone: a row may depend on itself only", i, j, whole.At(i, j), one.At(0, j))
		}
	}
	if tail, err := eval(t, b.Slice(n/2, n)); err != nil {
		f.add("Eval of the second half: %w", err)
	} else {
		for i := n / 2; i < n; i++ {
			if j := differs(tail.RawRowView(i-n/2), whole.RawRowView(i)); j >= 0 {
				f.add("row %d, column %d changes with the rows before it", i, j)
			}
		}
	}
	var wait sync.WaitGroup
	again := make([]*mat.Dense, 4)
	for g := range again {
		wait.Go(func() { again[g], _ = eval(t, b) })
	}
	wait.Wait()
	for _, x := range again {
		if x == nil || !mat.Equal(x, whole) {
			f.add("concurrent use gives other values: terms must be immutable")
			break
		}
	}
	if s, ok := t.(decompose.SparseTerm); ok {
		checkSparse(f, s, b, whole)
	}
	if len(t.Columns()) > 0 {
		func() {
			defer func() {
				if r := recover(); r != nil {
					f.add("panics on a batch without its columns: %v", r)
				}
			}()
			if _, err := eval(t, data.NewBatch(1, 0)); err == nil {
				f.add("a batch without its columns %q is not an error", t.Columns())
			}
		}()
	}
	return errors.Join(f.errs...)
}

func checkSparse(f *faults, s decompose.SparseTerm, b *data.Batch, whole *mat.Dense) {
	x, err := s.EvalSparse(b)
	if err != nil {
		f.add("EvalSparse: %w", err)
		return
	}
	n, d := whole.Dims()
	if r, c := x.Dims(); r != n || c != d {
		f.add("EvalSparse gives %d x %d, Eval %d x %d", r, c, n, d)
		return
	}
	if err := design.Check(x); err != nil {
		f.add("EvalSparse: %w", err)
		return
	}
	if r, ok := s.(decompose.ReusingTerm); ok { // the same values in memory used before
		if x, err = r.EvalSparseInto(x, b); err != nil {
			f.add("EvalSparseInto: %w", err)
			return
		}
	}
	f.equal("EvalSparse", x, whole)
	if p, ok := s.(decompose.ProductTerm); ok {
		for range 2 {
			if x, err = p.EvalProduct(x, b); err != nil {
				f.add("EvalProduct: %w", err)
				return
			}
			if err := design.Check(x); err != nil {
				f.add("EvalProduct: %w", err)
				return
			}
		}
		f.equal("EvalProduct", x, whole)
	}
}

// equal checks that a fast path gives the values of Eval.
func (f *faults) equal(path string, x design.Columns, whole *mat.Dense) {
	n, d := whole.Dims()
	full := nan(n, d)
	if err := design.ToDense(full, x); err != nil {
		f.add("%s: %w", path, err)
		return
	}
	for i := range n {
		for j, v := range full.RawRowView(i) {
			if diff := math.Abs(v - whole.At(i, j)); !(diff <= 1e-12*math.Max(1, math.Abs(v))) {
				f.add("row %d, column %d is %v by %s and %v by Eval: a fast path may not change the answer", i, j, v, path, whole.At(i, j))
			}
		}
	}
}

// Model checks m on the rows of b, which must have m.Columns():
//
//   - predictors have distinct names, taps positive widths, blocks coefficients
//     of their term's length, and the terms obey Term;
//   - Forward overwrites every output with finite values;
//   - a row's outputs depend on that row alone, to the bit;
//   - Forward may be called from many goroutines;
//   - intercept + sum of Phi_j beta_j + zeta is the network's own eta, within
//     tolerance of its largest value;
//   - a cancelled context and a batch without columns are errors.
func Model(m decompose.Model, b *data.Batch, tolerance float64) error {
	f := &faults{what: "model"}
	n := b.Rows()
	if n == 0 {
		return errors.New("decomposetest: need at least one row to test with")
	}
	names := m.Predictors()
	if len(names) == 0 {
		f.add("has no predictor")
		return errors.Join(f.errs...)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || seen[name] {
			f.add("predictor name %q is empty or used twice", name)
		}
		seen[name] = true
	}
	for name, w := range m.Taps() {
		if w < 1 {
			f.add("tap %q is %d wide", name, w)
		}
	}
	whole, err := forward(m, b)
	if err != nil {
		f.add("Forward: %w", err)
		return errors.Join(f.errs...)
	}
	for _, o := range whole {
		for i := range n {
			for j, v := range o.m.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					f.add("%s, row %d, column %d is %g: Forward must overwrite every output with finite values", o.name, i, j, v)
				}
			}
		}
	}
	same := func(what string, part []output, at int) {
		for l, o := range part {
			r, _ := o.m.Dims()
			for i := range r {
				if j := differs(o.m.RawRowView(i), whole[l].m.RawRowView(at+i)); j >= 0 {
					f.add("%s, row %d, column %d is %v %s and %v in the batch", o.name, at+i, j, o.m.At(i, j), what, whole[l].m.At(at+i, j))
					return
				}
			}
		}
	}
	for i := range min(n, 64) {
		one, err := forward(m, b.Slice(i, i+1))
		if err != nil {
			f.add("Forward of row %d alone: %w", i, err)
			continue
		}
		same("alone", one, i)
	}
	if half, err := forward(m, b.Slice(n/2, n)); err != nil {
		f.add("Forward of the second half: %w", err)
	} else {
		same("without the rows before it", half, n/2)
	}
	var wait sync.WaitGroup
	again := make([][]output, 4)
	for g := range again {
		wait.Go(func() { again[g], _ = forward(m, b) })
	}
	wait.Wait()
	for _, o := range again {
		if o == nil {
			f.add("concurrent Forward fails")
			continue
		}
		same("in concurrent use", o, 0)
	}
	checkSum(f, m, b, whole, tolerance)

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Forward(cancelled, outputs(m, n), b); err == nil {
		f.add("Forward ignores a cancelled context")
	}
	if len(m.Columns()) > 0 {
		if err := m.Forward(context.Background(), outputs(m, 1), data.NewBatch(1, 0)); err == nil {
			f.add("a batch without the columns %q is not an error", m.Columns())
		}
	}
	return errors.Join(f.errs...)
}

// BlackBox checks f, which reads these columns of b and has that many predictors: it is checked as the
// Model that decompose.NewBlackBox makes of it (see Model).
func BlackBox(f decompose.BlackBox, columns []string, predictors int, b *data.Batch) error {
	var names []string
	for k := range predictors {
		names = append(names, fmt.Sprintf("eta%d", k+1))
	}
	m, err := decompose.NewBlackBox(f, columns, names...)
	if err != nil {
		return err
	}
	return Model(m, b, 0)
}

// checkSum adds up the parts the model claims and compares with its own output.
func checkSum(f *faults, m decompose.Model, b *data.Batch, whole []output, tolerance float64) {
	n := b.Rows()
	rows := b.Slice(0, n)
	for _, o := range whole[2:] {
		if err := rows.SetTensor(o.name, o.m); err != nil {
			f.add("%w", err)
			return
		}
	}
	zeta, eta := whole[0].m, whole[1].m
	done := map[decompose.Term]bool{}
	for k, name := range m.Predictors() {
		sum := make([]float64, n)
		for i := range sum {
			sum[i] = m.Intercept(k) + zeta.At(i, k)
		}
		for _, block := range m.Blocks(k) {
			t := block.Term
			if block.Coef != nil && len(block.Coef) != t.Dim() {
				f.add("predictor %q, term %q: %d coefficients for %d columns", name, t.Name(), len(block.Coef), t.Dim())
				continue
			}
			if !done[t] {
				done[t] = true
				if err := Term(t, rows); err != nil {
					f.add("predictor %q: %w", name, err)
					continue
				}
			}
			x, err := eval(t, rows)
			if err != nil || block.Coef == nil {
				continue
			}
			for i := range sum {
				for j, c := range block.Coef {
					sum[i] += c * x.At(i, j)
				}
			}
		}
		var largest, miss float64
		for i := range sum {
			largest = math.Max(largest, math.Abs(eta.At(i, k)))
			miss = math.Max(miss, math.Abs(sum[i]-eta.At(i, k)))
		}
		if !(miss <= tolerance*math.Max(largest, 1e-300)) && miss != 0 {
			f.add("predictor %q: intercept + X beta + zeta misses the network's own eta by %.3g (largest |eta| %.3g)", name, miss, largest)
		}
	}
}

type output struct {
	name string
	m    *mat.Dense
}

func outputs(m decompose.Model, n int) *decompose.Outputs {
	k := len(m.Predictors())
	o := &decompose.Outputs{Zeta: nan(n, k), Eta: nan(n, k), Taps: map[string]*mat.Dense{}}
	for name, w := range m.Taps() {
		o.Taps[name] = nan(n, max(w, 1))
	}
	return o
}

// forward returns zeta, eta and the taps by name.
func forward(m decompose.Model, b *data.Batch) ([]output, error) {
	o := outputs(m, b.Rows())
	if err := m.Forward(context.Background(), o, b); err != nil {
		return nil, err
	}
	out := []output{{"zeta", o.Zeta}, {"eta", o.Eta}}
	for _, name := range slices.Sorted(maps.Keys(o.Taps)) {
		out = append(out, output{name, o.Taps[name]})
	}
	return out, nil
}

func eval(t decompose.Term, b *data.Batch) (*mat.Dense, error) {
	x := nan(b.Rows(), t.Dim())
	return x, t.Eval(x, b)
}

// nan is an n x d matrix that shows what is not overwritten.
func nan(n, d int) *mat.Dense {
	v := make([]float64, n*d)
	for i := range v {
		v[i] = math.NaN()
	}
	return mat.NewDense(n, d, v)
}

// differs returns the first position where a and b are not the same bits.
func differs(a, b []float64) int {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}
