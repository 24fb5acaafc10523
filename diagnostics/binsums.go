package diagnostics

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// binsKind is that of binSums.
const binsKind = "bins/1"

// binSums are what LackOfFit.Map returns.
type binSums struct {
	columns []binnedColumn
	terms   []binnedTerm
}

// binnedColumn has, by bin, the number of rows, their weight, and the weighted sum of the column.
type binnedColumn struct{ rows, weight, x []float64 }

// binnedTerm has, by bin, the sum of weighted remainders, that of their squares, and the weighted sum of the term.
type binnedTerm struct{ remainder, square, value []float64 }

// lists are all numbers of s, in order.
func (s *binSums) lists() (all [][]float64) {
	for _, c := range s.columns {
		all = append(all, c.rows, c.weight, c.x)
	}
	for _, t := range s.terms {
		all = append(all, t.remainder, t.square, t.value)
	}
	return all
}

// Kind names the type and its encoding.
func (s *binSums) Kind() string { return binsKind }

// Add adds the sums of rows that follow. Those of other terms or bins are an error that leaves s as it was.
func (s *binSums) Add(next decompose.Sums) error {
	o, ok := next.(*binSums)
	if !ok {
		return fmt.Errorf("diagnostics: sums of the kind %q do not add up with %q", next.Kind(), binsKind)
	}
	own, other := s.lists(), o.lists()
	same := len(s.columns) == len(o.columns) && len(own) == len(other)
	for i := 0; same && i < len(own); i++ {
		same = len(own[i]) == len(other[i])
	}
	if !same {
		return fmt.Errorf("diagnostics: bins of %d columns and %d terms, and of %d and %d, do not add up", len(s.columns), len(s.terms), len(o.columns), len(o.terms))
	}
	for i := range own {
		floats.Add(own[i], other[i])
	}
	return nil
}

// MarshalBinary writes the sums for DecodeSums.
func (s *binSums) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(wire.AppendInt(nil, len(s.columns)), len(s.terms))
	for _, list := range s.lists() {
		b = wire.AppendFloats(b, list)
	}
	return b, nil
}

// decodeBins reads what MarshalBinary wrote.
func decodeBins(raw []byte) (decompose.Sums, error) {
	r := wire.NewReader(raw)
	columns := r.Count(1)
	terms := r.Count(1)
	s := new(binSums)
	read := func() (a, b, c []float64) {
		a, b, c = r.Floats(), r.Floats(), r.Floats()
		if len(a) != len(b) || len(a) != len(c) {
			r.Fail("lists of %d, %d and %d bins", len(a), len(b), len(c))
		}
		return a, b, c
	}
	for i := 0; i < columns && r.Err() == nil; i++ {
		var c binnedColumn
		c.rows, c.weight, c.x = read()
		s.columns = append(s.columns, c)
	}
	for i := 0; i < terms && r.Err() == nil; i++ {
		var t binnedTerm
		t.remainder, t.square, t.value = read()
		s.terms = append(s.terms, t)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("diagnostics: damaged sums: %w", err)
	}
	return s, nil
}
