package interaction

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/rowhash"
	"github.com/pho-go/pho/internal/base/wire"
)

// sampleKind is the kind of a Sample as sums.
const sampleKind = "sample/2"

// Sums are the sample of the rows that were scanned.
func (s *sampleScan) Sums() (decompose.Sums, error) {
	own := Sample(*s)
	own.kept = slices.Clone(s.kept)
	own.prune()
	return &own, nil
}

// Restore takes the sample of all rows.
func (s *sampleScan) Restore(sums decompose.Sums) error { return (*Sample)(s).Add(sums) }

// Kind is that of samples.
func (s *Sample) Kind() string { return sampleKind }

// Add is Merge of samples as sums.
func (s *Sample) Add(next decompose.Sums) error {
	n, ok := next.(*Sample)
	if !ok {
		return fmt.Errorf("interaction: sums of %s do not add to a sample of rows", next.Kind())
	}
	return s.Merge(n)
}

// MarshalBinary writes the sample for DecodeSums.
func (s *Sample) MarshalBinary() ([]byte, error) {
	s.prune()
	b := wire.AppendText(wire.AppendTexts(nil, s.columns), s.weights)
	b = wire.AppendInt(wire.AppendInt(b, s.rows), len(s.kept))
	for _, r := range s.kept {
		b = wire.AppendInt(b, r.row)
		for _, v := range r.values {
			if b = wire.AppendBool(b, v.level != nil); v.level != nil {
				b = wire.AppendText(b, *v.level)
			} else {
				b = wire.AppendFloat(b, v.number)
			}
		}
	}
	return b, nil
}

// decodeSample reads what MarshalBinary wrote.
func decodeSample(raw []byte) (decompose.Sums, error) {
	r := wire.NewReader(raw)
	s := NewSample(r.Texts(), r.Text())
	s.begin()
	if s.rows = r.NonNegative(); s.rows != sampleRows && s.rows != wideRows {
		r.Fail("a sample of %d rows: %d and %d are possible", s.rows, sampleRows, wideRows)
		s.rows = sampleRows
	}
	n := r.Count(8 + 9*len(s.columns))
	if n > s.rows {
		r.Fail("%d rows, at most %d are kept", n, s.rows)
	}
	for range n {
		own := sampledRow{row: int64(r.NonNegative()), values: make([]value, len(s.columns))}
		own.hash = rowhash.Of(own.row)
		for j := range own.values {
			if r.Bool() {
				level := r.Text()
				own.values[j].level = &level
			} else {
				own.values[j].number = r.Float()
			}
		}
		if r.Err() != nil {
			break
		}
		s.kept = append(s.kept, own)
	}
	if !slices.IsSortedFunc(s.kept, compareRows) {
		r.Fail("the rows are not in order")
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("interaction: the sample of rows is damaged: %w", err)
	}
	s.prune()
	return s, nil
}

// compareRows orders rows by hash, then number.
func compareRows(a, b sampledRow) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row))
}
