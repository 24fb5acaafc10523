package interaction

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// pairsKind is that of sums.
const pairsKind = "pairs/2"

// MarshalBinary writes s for DecodeSums. A row that is in it twice is an error.
func (s *sums) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(nil, len(s.worst))
	for _, rows := range s.worst {
		if i := rows.repeated(); i >= 0 {
			return nil, fmt.Errorf("interaction: data row %d is among those of the largest remainder twice", rows[i].row+1)
		}
		b = wire.AppendInt(b, len(rows))
		for _, row := range rows {
			b = wire.AppendNumbers(wire.AppendInt(b, row.row), []float64{row.r, row.eta, row.weight})
			b = wire.AppendText(wire.AppendText(b, row.codes), row.id)
		}
	}
	if b = wire.AppendBool(b, s.tables != nil); s.tables != nil {
		b = s.tables.append(b)
	}
	if b = wire.AppendBool(b, s.kept != nil); s.kept != nil {
		b = s.kept.append(b)
	}
	return b, nil
}

// DecodeSums reads the bytes of MarshalBinary, of a Sample ("sample/2") or of a result of
// Ranking.Map ("pairs/2"): it is a decompose.DecodeSums of these kinds. Other kinds and damaged
// bytes are errors.
func DecodeSums(of string, raw []byte) (decompose.Sums, error) {
	switch of {
	case pairsKind:
		return decodePairs(raw)
	case sampleKind:
		return decodeSample(raw)
	}
	return nil, fmt.Errorf("interaction: sums of the kind %q are none of this package", of)
}

func decodePairs(raw []byte) (decompose.Sums, error) {
	r := wire.NewReader(raw)
	s := &sums{}
	for range r.Count(8) {
		s.worst = append(s.worst, readWorst(r))
	}
	if r.Bool() {
		s.tables = readTables(r)
	}
	if r.Bool() {
		s.kept = readKept(r)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("interaction: damaged sums: %w", err)
	}
	return s, nil
}

func readWorst(r *wire.Reader) worst {
	var rows worst
	n := r.AtMost(worstRows)
	for i := 0; i < n && r.Err() == nil; i++ {
		row := worstRow{row: r.Int(), r: r.Float(), eta: r.Float(), weight: r.Float()}
		row.codes = append(row.codes, r.Bytes()...)
		row.id = r.Text()
		for _, c := range row.codes {
			if c >= stride {
				r.Fail("bin %d, of %d", c, stride)
			}
		}
		rows = append(rows, row)
		if i > 0 && bySize(rows[i-1], row) >= 0 {
			r.Fail("rows of the largest remainder are not in order")
		}
	}
	if i := rows.repeated(); i >= 0 {
		r.Fail("data row %d is among those of the largest remainder twice", rows[i].row+1)
	}
	return rows
}

func (t *tables) append(b []byte) []byte {
	shape := t.shape()
	b = wire.AppendInt(wire.AppendInt(b, shape.pairs), shape.predictors)
	b = wire.AppendBool(b, shape.weighted)
	t.each(t, func(v, _ []float64) { b = wire.AppendNumbers(b, v) })
	return wire.AppendFloat(b, t.sumWeight)
}

func readTables(r *wire.Reader) *tables {
	pairs, predictors, weighted := r.AtMost(1<<24), r.AtMost(1<<20), r.Bool()
	by := 2
	if weighted {
		by = 3
	}
	if 8*(pairs*cells*(1+by*predictors)+2*predictors+1) > r.Left() {
		r.Fail("tables of %d pairs and %d predictors end too early", pairs, predictors)
		return nil
	}
	t := newTables(pairs, predictors, weighted)
	t.each(t, func(v, _ []float64) { r.Numbers(v) })
	t.sumWeight = r.Float()
	return t
}

func (s *kept) append(b []byte) []byte {
	b = wire.AppendInt(wire.AppendInt(wire.AppendInt(b, s.rows()), len(s.codes)), len(s.r))
	for j, codes := range s.codes {
		if b = wire.AppendBool(b, codes != nil); codes != nil {
			b = wire.AppendText(b, codes)
		} else {
			b = wire.AppendNumbers(b, s.numbers[j])
		}
	}
	if b = wire.AppendBool(b, s.w != nil); s.w != nil {
		b = wire.AppendNumbers(b, s.w)
	}
	for _, r := range s.r {
		b = wire.AppendNumbers(b, r)
	}
	return b
}

func readKept(r *wire.Reader) *kept {
	n, columns, predictors := r.AtMost(math.MaxInt32), r.AtMost(1<<20), r.AtMost(1<<20)
	if columns*(n+1)+predictors*(8*n+1) > r.Left() || predictors == 0 {
		r.Fail("%d rows of %d columns and %d predictors end too early", n, columns, predictors)
		return nil
	}
	s := &kept{values: values{numbers: make([][]float64, columns), codes: make([][]uint8, columns)}}
	numbers := func() []float64 {
		x := make([]float64, min(n, r.Left()/8))
		r.Numbers(x)
		if len(x) < n {
			r.Fail("%d rows, not %d", len(x), n)
		}
		return x
	}
	for j := range columns {
		if !r.Bool() {
			s.numbers[j] = numbers()
			continue
		}
		s.codes[j] = append([]uint8{}, r.Bytes()...)
		if len(s.codes[j]) != n {
			r.Fail("%d bins of %d rows", len(s.codes[j]), n)
		}
		for _, c := range s.codes[j] {
			if c >= stride {
				r.Fail("bin %d, of %d", c, stride)
			}
		}
	}
	if r.Bool() {
		s.w = numbers()
	}
	for range predictors {
		s.r = append(s.r, numbers())
	}
	if r.Err() != nil {
		return nil
	}
	return s
}
