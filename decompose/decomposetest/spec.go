package decomposetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Spec checks a sort of term all the way from its data scan to its artifact. b has
// the columns of s and at least 8 rows; decode rebuilds a term from what its
// MarshalJSON wrote, as decompose.Read calls it.
//
//   - Columns names what Scan and the terms read;
//   - the scan sees rows, not batches: in parts it gives the blocks of one batch;
//   - a scanner knows of no rows but its own: after the spec was prepared on some of
//     them, it gives the same blocks on all of them as before;
//   - Build gives blocks with different names, whose terms keep the laws of Term;
//   - penalties are finite and positive semi-definite, d x d, and Base, Coef and SP
//     have their sizes;
//   - a term comes back from its artifact with the same name, kind, columns and
//     values, to the last bit, and writes the same artifact again;
//   - a batch without its columns is an error of Scan, not a panic.
func Spec(s decompose.Spec, decode func(decompose.Kind, json.RawMessage) (decompose.Term, error), b *data.Batch) error {
	f := &faults{what: fmt.Sprintf("spec %T", s)}
	n := b.Rows()
	if n < 8 {
		return errors.New("decomposetest: need at least 8 rows to test with")
	}
	if len(s.Columns()) == 0 {
		f.add("names no columns")
	}
	blocks, err := build(s, b)
	if err != nil {
		f.add("%w", err)
		return errors.Join(f.errs...)
	}
	if len(blocks) == 0 {
		f.add("Build gives no blocks")
	}
	names := map[string]bool{}
	for _, block := range blocks {
		name := block.Term.Name()
		if names[name] {
			f.add("Build gives two blocks named %q", name)
		}
		names[name] = true
		for _, c := range block.Term.Columns() {
			if !slices.Contains(s.Columns(), c) {
				f.add("the term %q reads column %q, which the spec does not name", name, c)
			}
		}
		if err := Term(block.Term, b); err != nil {
			f.add("%w", err)
		}
		checkBlock(f, block)
		checkArtifact(f, block.Term, decode, b)
	}
	compare := func(when string, batches ...*data.Batch) {
		again, err := build(s, batches...)
		switch {
		case err != nil:
			f.add("%s: %w", when, err)
		case len(again) != len(blocks):
			f.add("%s it gives %d blocks, at first %d", when, len(again), len(blocks))
		default:
			for i := range blocks {
				sameBlock(f, when, blocks[i], again[i], b)
			}
		}
	}
	compare("scanned in parts", b.Slice(0, 1), b.Slice(1, n/2), b.Slice(n/2, n))
	_, _ = build(s, b.Slice(0, n/2)) // fewer rows may not do for a basis
	compare("after other rows", b)
	if fresh := s.Scanner(); fresh.NeedsScan() {
		func() {
			defer func() {
				if r := recover(); r != nil {
					f.add("Scan panics on a batch without its columns: %v", r)
				}
			}()
			if err := fresh.Scan(data.NewBatch(1, 0)); err == nil {
				f.add("Scan of a batch without its columns %q is not an error", s.Columns())
			}
		}()
	}
	return errors.Join(f.errs...)
}

func build(spec decompose.Spec, batches ...*data.Batch) ([]decompose.Block, error) {
	s := spec.Scanner()
	for again := s.NeedsScan(); again; {
		for _, b := range batches {
			if err := s.Scan(b); err != nil {
				return nil, fmt.Errorf("method Scan: %w", err)
			}
		}
		again = false
		if r, ok := s.(decompose.Rescanner); ok {
			var err error
			if again, err = r.Again(); err != nil {
				return nil, fmt.Errorf("method Again: %w", err)
			}
		}
	}
	blocks, err := s.Build()
	if err != nil {
		return nil, fmt.Errorf("method Build: %w", err)
	}
	return blocks, nil
}

func checkBlock(f *faults, b decompose.Block) {
	name, d := b.Term.Name(), b.Term.Dim()
	if m := b.Coordinates.Map(); m != nil {
		rows, c := m.Dims()
		if rows != d {
			f.add("%q: the map has %d rows, the term %d columns", name, rows, d)
		}
		d = c // the penalties are about its coordinates
	}
	for i, s := range b.Penalty.S {
		if s.SymmetricDim() != d {
			f.add("%q: penalty %d is %d x %d, the coefficients are %d", name, i+1, s.SymmetricDim(), s.SymmetricDim(), d)
			continue
		}
		finite := true
		for k := range d {
			for j := range d {
				v := s.At(k, j)
				finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
			}
		}
		var eigen mat.EigenSym
		if !finite || !eigen.Factorize(s, false) {
			f.add("%q: penalty %d is not finite", name, i+1)
			continue
		}
		values := eigen.Values(nil)
		if smallest, largest := values[0], values[d-1]; smallest < -1e-9*largest || largest <= 0 {
			f.add("%q: penalty %d has eigenvalues from %g to %g: it must be positive semi-definite, and not 0", name, i+1, smallest, largest)
		}
	}
	if n := len(b.Penalty.SP); n != 0 && n != len(b.Penalty.S) {
		f.add("%q: %d smoothing parameters for %d penalties", name, n, len(b.Penalty.S))
	}
	d = b.Term.Dim()
	if n := len(b.Coef); n != 0 && n != d {
		f.add("%q: %d coefficients for %d columns", name, n, d)
	}
	for _, t := range b.Base {
		if t.Dim() != d {
			f.add("%q: its base %q has %d columns, itself %d", name, t.Name(), t.Dim(), d)
		}
	}
}

func checkArtifact(f *faults, t decompose.Term, decode func(decompose.Kind, json.RawMessage) (decompose.Term, error), b *data.Batch) {
	name := t.Name()
	if _, ok := t.(json.Marshaler); !ok {
		f.add("%q has no MarshalJSON: it cannot be written to an artifact", name)
		return
	}
	spec, err := json.Marshal(t)
	if err != nil {
		f.add("%q: MarshalJSON: %w", name, err)
		return
	}
	again, err := decode(t.Kind(), spec)
	if err != nil {
		f.add("%q: decoding its own spec: %w", name, err)
		return
	}
	if again.Name() != name || again.Kind() != t.Kind() || again.Dim() != t.Dim() || !slices.Equal(again.Columns(), t.Columns()) {
		f.add("%q comes back as %q, kind %s, %d columns of %q", name, again.Name(), again.Kind(), again.Dim(), again.Columns())
		return
	}
	sameValues(f, "from its artifact", t, again, b)
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(spec) {
		f.add("%q writes another artifact after a round trip", name)
	}
}

func sameBlock(f *faults, when string, one, parts decompose.Block, b *data.Batch) {
	name := one.Term.Name()
	if parts.Term.Name() != name || parts.Term.Dim() != one.Term.Dim() || !parts.Constraint.Equal(one.Constraint) || len(parts.Penalty.S) != len(one.Penalty.S) {
		f.add("%s, %q is another block, %q", when, name, parts.Term.Name())
		return
	}
	sameValues(f, when, one.Term, parts.Term, b)
	for i := range one.Penalty.S {
		if !mat.Equal(one.Penalty.S[i], parts.Penalty.S[i]) {
			f.add("%s, %q has another penalty %d", when, name, i+1)
		}
	}
}

func sameValues(f *faults, when string, t, again decompose.Term, b *data.Batch) {
	want, err := eval(t, b)
	if err != nil {
		return // Term has told
	}
	got, err := eval(again, b)
	if err != nil {
		f.add("%q %s: Eval: %w", t.Name(), when, err)
		return
	}
	for i := range b.Rows() {
		if j := differs(got.RawRowView(i), want.RawRowView(i)); j >= 0 {
			f.add("%q %s: row %d, column %d is %v, was %v: not the same bits", t.Name(), when, i, j, got.At(i, j), want.At(i, j))
			return
		}
	}
}
