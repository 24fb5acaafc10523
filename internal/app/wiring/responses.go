package wiring

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// mostResponses is how many different responses are told apart: of more the smallest.
const mostResponses = 10_000

// responsesKind is the kind of responses as sums.
const responsesKind = "responses/1"

// responses are the different numbers of a column, NaN left out: a decompose.SummingScanner that makes
// no blocks, and its own sums.
type responses struct {
	column string
	values []float64 // in order
}

// NeedsScan is true: it is all about the rows.
func (s *responses) NeedsScan() bool { return true }

// Build makes no blocks.
func (s *responses) Build() ([]decompose.Block, error) { return nil, nil }

// Scan takes in rows.
func (s *responses) Scan(b *data.Batch) error {
	x, err := b.Numeric(s.column)
	if err != nil {
		return err
	}
	for _, y := range x {
		s.take(y + 0) // -0 is 0
	}
	return nil
}

func (s *responses) take(y float64) {
	if math.IsNaN(y) || len(s.values) == mostResponses && y > s.values[mostResponses-1] {
		return
	}
	at, found := slices.BinarySearch(s.values, y)
	if found {
		return
	}
	s.values = slices.Insert(s.values, at, y)
	s.values = s.values[:min(len(s.values), mostResponses)]
}

// Sums are the numbers.
func (s *responses) Sums() (decompose.Sums, error) { return s, nil }

// Restore takes the numbers of all rows.
func (s *responses) Restore(sums decompose.Sums) error { return s.Add(sums) }

// Kind is that of responses.
func (s *responses) Kind() string { return responsesKind }

// Add adds the numbers of other rows.
func (s *responses) Add(next decompose.Sums) error {
	n, ok := next.(*responses)
	if !ok || n.column != s.column {
		return fmt.Errorf("sums of %s do not add to the numbers of column %q", next.Kind(), s.column)
	}
	for _, y := range n.values {
		s.take(y)
	}
	return nil
}

// MarshalBinary writes the numbers.
func (s *responses) MarshalBinary() ([]byte, error) {
	return wire.AppendFloats(wire.AppendText(nil, s.column), s.values), nil
}

func decodeResponses(_ string, raw []byte) (decompose.Sums, error) {
	r := wire.NewReader(raw)
	s := &responses{column: r.Text()}
	if s.values = r.Increasing(); len(s.values) > mostResponses {
		r.Fail("%d numbers of column %.80q, at most %d are kept", len(s.values), s.column, mostResponses)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("what was seen of the responses is damaged: %w", err)
	}
	return s, nil
}
