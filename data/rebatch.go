package data

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Rebatch cuts a sequence of batches again, into batches of exactly rows rows
// (the last may be shorter): batch k holds the yielded rows k*rows to
// (k+1)*rows-1, whatever the cuts of seq were. Where the rows of an output batch lie
// side by side in memory, as those of one input batch and of slices of one do, it is a view of them;
// elsewhere columns are copied together. Row numbers, codes and tensors stay as they are.
//
// Errors of seq end the sequence at once; rows held back are not yielded then.
// Errors of its own: rows < 1; batches to be joined that hold different
// columns, tensors of different widths, or levels in another order.
func Rebatch(seq iter.Seq2[*Batch, error], rows int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if rows < 1 {
			yield(nil, fmt.Errorf("data: batches of %d rows are not possible", rows))
			return
		}
		var parts []*Batch // of the batch to come, which lacks rows
		held := 0          // rows of parts
		flush := func() bool {
			b, err := join(parts, held)
			parts, held = nil, 0
			return yield(b, err) && err == nil
		}
		for b, err := range seq {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := 0; i < b.rows; {
				j := i + min(rows-held, b.rows-i)
				part := b
				if i > 0 || j < b.rows {
					part = b.Slice(i, j)
				}
				parts, held, i = append(parts, part), held+part.rows, j
				if held == rows && !flush() {
					return
				}
			}
		}
		if held > 0 {
			flush()
		}
	}
}

// join makes one batch of n rows out of parts; a single part is itself.
func join(parts []*Batch, n int) (*Batch, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	for _, p := range parts[1:] {
		if err := sameColumns(parts[0], p); err != nil {
			return nil, err
		}
	}
	b := NewBatch(n, parts[0].Row(0))
	b.numbers = joinRows(parts, n)
	for name := range parts[0].numeric {
		b.numeric[name] = joined(parts, n, func(p *Batch) []float64 { return p.numeric[name] })
	}
	for _, name := range slices.Sorted(maps.Keys(parts[0].codes)) {
		c, err := joinCodes(parts, name, n)
		if err != nil {
			return nil, err
		}
		b.codes[name] = c
	}
	for _, name := range slices.Sorted(maps.Keys(parts[0].tensors)) {
		m, err := joinTensor(parts, name, n)
		if err != nil {
			return nil, err
		}
		b.tensors[name] = m
	}
	return b, nil
}

// joined is of n values what every part has, one behind the other. Where they lie so in memory, as
// slices of one batch do, nothing is copied.
func joined[T any](parts []*Batch, n int, of func(*Batch) []T) []T {
	if first := of(parts[0]); cap(first) >= n {
		whole, at := first[:n:n], 0
		if !slices.ContainsFunc(parts, func(p *Batch) bool {
			v := of(p)
			apart := len(v) > 0 && &v[0] != &whole[at]
			at += len(v)
			return apart
		}) {
			return whole
		}
	}
	all := make([]T, 0, n)
	for _, p := range parts {
		all = append(all, of(p)...)
	}
	return all
}

// joinRows returns the source rows of parts, nil if they are consecutive.
func joinRows(parts []*Batch, n int) []int64 {
	next := parts[0].first
	if !slices.ContainsFunc(parts, func(p *Batch) bool {
		apart := p.numbers != nil || p.first != next
		next += int64(p.rows)
		return apart
	}) {
		return nil
	}
	rows := make([]int64, 0, n)
	for _, p := range parts {
		for i := range p.rows {
			rows = append(rows, p.Row(i))
		}
	}
	return gaps(rows)
}

// gaps returns rows, or nil if they are consecutive: they increase, so the first and the
// last tell.
func gaps(rows []int64) []int64 {
	if n := len(rows); n == 0 || rows[n-1]-rows[0] == int64(n-1) {
		return nil
	}
	return rows
}

func joinCodes(parts []*Batch, name string, n int) (Codes, error) {
	c := Codes{Index: joined(parts, n, func(p *Batch) []int32 { return p.codes[name].Index })}
	for _, p := range parts {
		short, long := c.Levels, p.codes[name].Levels
		if len(short) > len(long) {
			short, long = long, short
		}
		if !slices.Equal(short, long[:len(short)]) {
			return c, fmt.Errorf("data: the levels of column %q change their order between batches", clip(name))
		}
		c.Levels = long
		c.Declared = JoinDeclared(c.Declared, p.codes[name].Declared)
	}
	return c, nil
}

// JoinDeclared are the orders of a, which is not changed, and those of b that are not among them.
func JoinDeclared(a, b [][]string) [][]string {
	for _, order := range b {
		if !slices.ContainsFunc(a, func(o []string) bool { return slices.Equal(o, order) }) {
			a = append(slices.Clip(a), order)
		}
	}
	return a
}

func joinTensor(parts []*Batch, name string, n int) (*mat.Dense, error) {
	_, width := parts[0].tensors[name].Dims()
	for _, p := range parts {
		if _, w := p.tensors[name].Dims(); w != width {
			return nil, fmt.Errorf("data: tensor %q has width %d in one batch and %d in the next", clip(name), width, w)
		}
	}
	return mat.NewDense(n, width, joined(parts, n*width, func(p *Batch) []float64 {
		m := p.tensors[name].RawMatrix()
		if m.Stride != width {
			m = mat.DenseCopyOf(p.tensors[name]).RawMatrix()
		}
		return m.Data[:m.Rows*width]
	})), nil
}

// sameColumns checks that a and b hold the same columns in the same ways.
func sameColumns(a, b *Batch) error {
	if name, ok := missingKey(a.numeric, b.numeric); ok {
		return columnsDiffer(name)
	}
	if name, ok := missingKey(a.codes, b.codes); ok {
		return columnsDiffer(name)
	}
	if name, ok := missingKey(a.tensors, b.tensors); ok {
		return columnsDiffer(name)
	}
	return nil
}

// missingKey returns the first key, in order, that only one of a and b has.
func missingKey[V any](a, b map[string]V) (string, bool) {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[k]; !ok {
			return k, true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			return k, true
		}
	}
	return "", false
}

func columnsDiffer(name string) error {
	return fmt.Errorf("data: column %q is in some batches and not, or held otherwise, in others", clip(name))
}
