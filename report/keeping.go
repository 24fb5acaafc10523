package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/rowhash"
	"github.com/pho-go/pho/internal/base/wire"
)

// examplesKind is that of keeping.
const examplesKind = "examples/1"

// keeping are the rows that may be kept of those seen so far: what Examples.Map returns.
type keeping struct {
	sampled         int      // rows of the sample, at most
	columns         []string // of the rows' values
	terms           []int    // of each predictor
	largest, sample []candidateRow
}

// candidateRow is a row that may be kept.
type candidateRow struct {
	decompose.Example
	size float64
	hash uint64
}

// prune leaves the rows that may be kept, in order of size and of hash.
func (s *keeping) prune() {
	slices.SortFunc(s.largest, bySize)
	slices.SortFunc(s.sample, byHash)
	s.largest = s.largest[:min(len(s.largest), largestRows)]
	s.sample = s.sample[:min(len(s.sample), s.sampled)]
}

// bySize has the largest remainder first, among equals the first row.
func bySize(a, b candidateRow) int {
	return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.Row, b.Row))
}

func byHash(a, b candidateRow) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.Row, b.Row))
}

// Kind names the type and its encoding.
func (s *keeping) Kind() string { return examplesKind }

// Add adds the rows of next; the order does not matter. Rows of other columns or terms are an
// error that leaves s as it was.
func (s *keeping) Add(next decompose.Sums) error {
	o, ok := next.(*keeping)
	switch {
	case !ok:
		return fmt.Errorf("report: sums of the kind %q do not add up with %q", next.Kind(), examplesKind)
	case s.sampled != o.sampled || !slices.Equal(s.terms, o.terms):
		return fmt.Errorf("report: rows of predictors of %d terms, and of %d terms, are examples of different decompositions", s.terms, o.terms)
	case !slices.Equal(s.columns, o.columns):
		return fmt.Errorf("report: rows of the columns %q, and of %q, are examples of different data", s.columns, o.columns)
	}
	s.largest, s.sample = append(s.largest, o.largest...), append(s.sample, o.sample...)
	s.prune()
	return nil
}

// MarshalBinary writes s for DecodeSums. A row that is in it twice is an error.
func (s *keeping) MarshalBinary() ([]byte, error) {
	s.prune()
	b := wire.AppendTexts(wire.AppendInt(nil, s.sampled), s.columns)
	b = wire.AppendInt(b, len(s.terms))
	for _, n := range s.terms {
		b = wire.AppendInt(b, n)
	}
	for _, rows := range [][]candidateRow{s.largest, s.sample} {
		b = wire.AppendInt(b, len(rows))
		for i := range rows {
			if i > 0 && rows[i].Row == rows[i-1].Row {
				return nil, fmt.Errorf("report: data row %d is among the examples twice", rows[i].Row)
			}
			b = appendExample(b, &rows[i])
		}
	}
	return b, nil
}

// appendExample appends a row, whose hash follows from its number.
func appendExample(b []byte, row *candidateRow) []byte {
	b = wire.AppendText(wire.AppendFloat(wire.AppendInt(b, row.Row), row.size), row.ID)
	for _, v := range []*float64{row.Weight, row.Response, row.Offset} {
		if b = wire.AppendBool(b, v != nil); v != nil {
			b = wire.AppendFloat(b, *v)
		}
	}
	for _, v := range row.Values {
		b = appendValue(b, v)
	}
	for _, p := range row.Parts {
		b = wire.AppendNumbers(b, p.Terms)
		b = wire.AppendNumbers(b, []float64{p.Unstructured, p.Eta})
	}
	return b
}

// What a value of a row is, in files.
const (
	missingValue = iota
	numberValue
	textValue
)

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case float64:
		return wire.AppendFloat(wire.AppendInt(b, numberValue), v)
	case string:
		return wire.AppendText(wire.AppendInt(b, textValue), v)
	}
	return wire.AppendInt(b, missingValue)
}

// DecodeSums makes sums of what Examples.Map returned and MarshalBinary wrote: it is a
// decompose.DecodeSums of the kind "examples/1". Other kinds and damaged bytes are errors.
func DecodeSums(of string, raw []byte) (decompose.Sums, error) {
	if of != examplesKind {
		return nil, fmt.Errorf("report: sums of the kind %q are none of this package", of)
	}
	r := wire.NewReader(raw)
	s := &keeping{sampled: r.AtMost(sampledRows), columns: r.Texts()}
	for range r.Count(8) {
		s.terms = append(s.terms, r.AtMost(math.MaxInt32))
	}
	s.largest = s.readExamples(r, largestRows, bySize)
	s.sample = s.readExamples(r, s.sampled, byHash)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("report: damaged sums: %w", err)
	}
	return s, nil
}

// readExamples reads rows, which are in order.
func (s *keeping) readExamples(r *wire.Reader, most int, order func(a, b candidateRow) int) []candidateRow {
	bytes := 8*3 + 3 + 8*len(s.columns) // of a row, at least
	for _, n := range s.terms {
		bytes += 8 * (n + 2)
	}
	n := r.Count(bytes)
	if n > most {
		r.Fail("%d examples, of %d at most", n, most)
	}
	var rows []candidateRow
	for i := 0; i < n && r.Err() == nil; i++ {
		rows = append(rows, s.readExample(r))
		if i > 0 && order(rows[i-1], rows[i]) >= 0 {
			r.Fail("examples are not in order")
		}
	}
	return rows
}

func (s *keeping) readExample(r *wire.Reader) candidateRow {
	row := candidateRow{Example: decompose.Example{Row: r.Int()}, size: r.Float()}
	row.ID, row.hash = r.Text(), rowhash.Of(row.Row-1)
	for _, to := range []**float64{&row.Weight, &row.Response, &row.Offset} {
		if r.Bool() {
			v := r.Float()
			*to = &v
		}
	}
	for range s.columns {
		row.Values = append(row.Values, readValue(r))
	}
	for _, n := range s.terms {
		p := decompose.ExampleParts{Terms: make([]float64, min(n, r.Left()/8))}
		r.Numbers(p.Terms)
		if len(p.Terms) < n {
			r.Fail("terms are missing")
		}
		p.Unstructured, p.Eta = r.Float(), r.Float()
		row.Parts = append(row.Parts, p)
	}
	return row
}

func readValue(r *wire.Reader) any {
	switch kind := r.Int(); kind {
	case missingValue:
		return nil
	case numberValue:
		return r.Float()
	case textValue:
		return r.Text()
	default:
		r.Fail("a value of kind %d", kind)
		return nil
	}
}
