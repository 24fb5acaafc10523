package diagnostics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// kind is that of sample.
const kind = "kcheck/1"

// sample are the rows seen so far whose numbers have the least hashes: what KCheck.Map
// returns. It keeps sampleRows of them at least, and drops others now and then.
type sample struct {
	seed                 uint64
	features, predictors int // numbers of a row
	rows                 []sampled
}

// sampled is one row of the sample.
type sampled struct {
	hash     uint64
	row      int64
	features []float64 // in order of columns; NaN for one that is not numeric
	residual []float64 // by predictor
}

// Kind names the type and its encoding.
func (s *sample) Kind() string { return kind }

// Add adds the rows of next; the order does not matter. Another seed, and rows of other
// features or predictors, are an error that leaves s as it was.
func (s *sample) Add(next decompose.Sums) error {
	o, ok := next.(*sample)
	if !ok {
		return fmt.Errorf("diagnostics: sums of the kind %q do not add up with %q", next.Kind(), kind)
	}
	if s.seed != o.seed || s.features != o.features || s.predictors != o.predictors {
		return fmt.Errorf("diagnostics: samples of %d features and %d predictors by seed %d, and of %d and %d by seed %d, do not add up",
			s.features, s.predictors, s.seed, o.features, o.predictors, o.seed)
	}
	s.rows = append(s.rows, o.rows...)
	if len(s.rows) > 2*sampleRows {
		s.cut()
	}
	return nil
}

// cut leaves the sampleRows rows of the least hashes, in order of their numbers.
func (s *sample) cut() {
	if len(s.rows) > sampleRows {
		slices.SortFunc(s.rows, func(a, b sampled) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row))
		})
		clear(s.rows[sampleRows:])
		s.rows = s.rows[:sampleRows]
	}
	slices.SortFunc(s.rows, func(a, b sampled) int { return cmp.Compare(a.row, b.row) })
}

// MarshalBinary writes the sample for DecodeSums. A row that is in it twice is an error.
func (s *sample) MarshalBinary() ([]byte, error) {
	s.cut()
	b := wire.AppendInt(nil, s.seed)
	for _, n := range []int{s.features, s.predictors, len(s.rows)} {
		b = wire.AppendInt(b, n)
	}
	for i, r := range s.rows {
		if i > 0 && r.row == s.rows[i-1].row {
			return nil, fmt.Errorf("diagnostics: data row %d is in the sample twice", r.row+1)
		}
		b = wire.AppendNumbers(wire.AppendNumbers(wire.AppendInt(b, r.row), r.features), r.residual)
	}
	return b, nil
}

// DecodeSums makes sums of what the Map of a visitor of this package returned and MarshalBinary wrote:
// it is a decompose.DecodeSums of the kinds "kcheck/1" and "bins/1". Other kinds and damaged bytes are errors.
func DecodeSums(of string, raw []byte) (decompose.Sums, error) {
	switch of {
	case kind:
		return decodeSample(raw)
	case binsKind:
		return decodeBins(raw)
	}
	return nil, fmt.Errorf("diagnostics: sums of the kind %q are none of this package", of)
}

// decodeSample reads what MarshalBinary wrote.
func decodeSample(raw []byte) (decompose.Sums, error) {
	r := wire.NewReader(raw)
	s := &sample{seed: uint64(r.Int()), features: r.AtMost(math.MaxInt32), predictors: r.AtMost(math.MaxInt32)}
	width := s.features + s.predictors
	n := r.Count(8 * (1 + width))
	if n > sampleRows {
		r.Fail("%d rows, of %d at most", n, sampleRows)
		n = 0
	}
	numbers := make([]float64, n*width)
	for range n {
		row := sampled{row: r.Int(), features: numbers[:s.features:s.features], residual: numbers[s.features:width:width]}
		row.hash, numbers = mix(s.seed, uint64(row.row)), numbers[width:]
		r.Numbers(row.features)
		r.Numbers(row.residual)
		if len(s.rows) > 0 && row.row <= s.rows[len(s.rows)-1].row {
			r.Fail("rows are not in order")
			break
		}
		s.rows = append(s.rows, row)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("diagnostics: damaged sums: %w", err)
	}
	return s, nil
}
