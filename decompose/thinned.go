package decompose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/rowhash"
	"github.com/pho-go/pho/internal/base/wire"
)

// maxSample bounds the rows that EstimateFamily holds in memory; so many tell a shape to
// about half a percent.
const maxSample = 1 << 17

// thinned holds responses, weights, and predictors with offset, of the rows whose hash begins with
// so many zero bits that they are at most maxSample. So it depends on the set of rows alone.
type thinned struct {
	family.Sample
	k    int
	rows []int64
	bits int
}

// take adds rows that were not thinned.
func (s *thinned) take(next *thinned) {
	for i, row := range next.rows {
		if !hashBegins(row, s.bits) {
			continue
		}
		s.rows, s.Y, s.W = append(s.rows, row), append(s.Y, next.Y[i]), append(s.W, next.W[i])
		if next.Event != nil {
			s.Event = append(s.Event, next.Event[i])
		}
		s.Eta = append(s.Eta, next.Eta[i*s.k:(i+1)*s.k]...)
		for len(s.rows) > maxSample && s.bits < 64 {
			s.bits++
			s.thin()
		}
	}
}

// thin leaves the rows whose hash begins with the zero bits.
func (s *thinned) thin() {
	kept := 0
	for i, row := range s.rows {
		if !hashBegins(row, s.bits) {
			continue
		}
		s.rows[kept], s.Y[kept], s.W[kept] = row, s.Y[i], s.W[i]
		if s.Event != nil {
			s.Event[kept] = s.Event[i]
		}
		copy(s.Eta[kept*s.k:], s.Eta[i*s.k:(i+1)*s.k])
		kept++
	}
	s.cut(kept)
}

func (s *thinned) cut(n int) {
	s.rows, s.Y, s.W, s.Eta = s.rows[:n], s.Y[:n], s.W[:n], s.Eta[:n*s.k]
	if s.Event != nil {
		s.Event = s.Event[:n]
	}
}

// hashBegins tells whether the hash of a row's number begins with so many zero bits.
func hashBegins(row int64, bits int) bool { return rowhash.Of(row)>>(64-bits) == 0 }

// inOrder is the sample in order of rows.
func (s *thinned) inOrder() family.Sample {
	if slices.IsSorted(s.rows) {
		return s.Sample
	}
	order := make([]int, len(s.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.rows[a], s.rows[b]) })
	own := thinned{k: s.k}
	for _, i := range order {
		own.rows, own.Y, own.W = append(own.rows, s.rows[i]), append(own.Y, s.Y[i]), append(own.W, s.W[i])
		if s.Event != nil {
			own.Event = append(own.Event, s.Event[i])
		}
		own.Eta = append(own.Eta, s.Eta[i*s.k:(i+1)*s.k]...)
	}
	s.rows, s.Sample = own.rows, own.Sample
	return s.Sample
}

// familyKind is the kind of a sample as sums.
const familyKind = "family/1"

// Kind is that of samples for a family's parameters.
func (s *thinned) Kind() string { return familyKind }

// Add adds the sample of other rows.
func (s *thinned) Add(next Sums) error {
	n, ok := next.(*thinned)
	if !ok {
		return fmt.Errorf("decompose: sums of %s do not add to a sample for a family", next.Kind())
	}
	if s.k != n.k || len(s.rows) > 0 && len(n.rows) > 0 && (s.Event == nil) != (n.Event == nil) {
		return fmt.Errorf("decompose: samples of %d and %d predictors for a family do not add up: they are of different analyses", s.k, n.k)
	}
	if n.bits > s.bits {
		s.bits = n.bits
		s.thin()
	}
	s.take(n)
	return nil
}

// MarshalBinary writes the sample for DecodeFamilySums.
func (s *thinned) MarshalBinary() ([]byte, error) {
	s.inOrder()
	b := wire.AppendInt(wire.AppendInt(nil, s.k), s.bits)
	b = wire.AppendBool(b, len(s.Event) > 0)
	b = wire.AppendInt(b, len(s.rows))
	for _, row := range s.rows {
		b = wire.AppendInt(b, row)
	}
	for _, list := range [][]float64{s.Y, s.W, s.Event, s.Eta} {
		b = wire.AppendNumbers(b, list)
	}
	return b, nil
}

// DecodeFamilySums reads what the look of EstimateFamilyFrom has seen: see DecodeSums.
func DecodeFamilySums(kind string, raw []byte) (Sums, error) {
	if kind != familyKind {
		return nil, fmt.Errorf("decompose: unknown sums %q: this version reads %q", kind, familyKind)
	}
	r := wire.NewReader(raw)
	s := &thinned{k: r.AtMost(1 << 20), bits: r.AtMost(64)}
	events := r.Bool()
	n := r.Count(8 * (3 + s.k))
	if n > maxSample {
		r.Fail("%d rows, at most %d are kept", n, maxSample)
		n = 0
	}
	width := s.k + 2
	if events {
		width++
	}
	if n > r.Left()/(8*(1+width)) || events && n == 0 {
		r.Fail("%d rows of %d numbers in %d bytes", n, width, r.Left())
		n = 0
	}
	for range n {
		row := int64(r.NonNegative())
		if len(s.rows) > 0 && row < s.rows[len(s.rows)-1] || !hashBegins(row, s.bits) {
			r.Fail("row %d is none of the sample, or not in order", row)
		}
		s.rows = append(s.rows, row)
	}
	read := func(n int) []float64 {
		list := make([]float64, n)
		r.Numbers(list)
		return list
	}
	s.Y, s.W = read(n), read(n)
	if events {
		s.Event = read(n)
	}
	s.Eta = read(n * s.k)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("decompose: the sample for a family is damaged: %w", err)
	}
	return s, nil
}
