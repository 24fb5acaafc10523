package interaction

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/wire"
)

// pairsKind is that of sums.
const pairsKind = "pairs/1"

// MarshalBinary writes s for DecodeSums. A row that is in it twice is an error.
func (s *sums) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(nil, s.pass)
	b = wire.AppendInt(b, len(s.worst))
	for _, rows := range s.worst {
		b = wire.AppendInt(b, len(rows))
		for i, row := range rows {
			if i > 0 && row.row == rows[i-1].row {
				return nil, fmt.Errorf("interaction: data row %d is among those of the largest remainder twice", row.row+1)
			}
			b = wire.AppendNumbers(wire.AppendInt(b, row.row), []float64{row.r, row.eta, row.weight})
			b = wire.AppendText(wire.AppendText(b, row.codes), row.id)
		}
	}
	if b = wire.AppendBool(b, s.tables != nil); s.tables != nil {
		b = s.tables.append(b)
	}
	b = wire.AppendInt(b, len(s.products))
	for _, p := range s.products {
		b = p.append(b)
	}
	return b, nil
}

// DecodeSums makes sums again of what MarshalBinary of a Sample ("sample/1") or of what
// Ranking.Map returned ("pairs/1") wrote: it is a decompose.DecodeSums of these kinds. Other
// kinds and damaged bytes are errors.
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
	s := &sums{pass: r.AtMost(2*maxRounds - 1)}
	for range r.Count(8) {
		s.worst = append(s.worst, readWorst(r))
	}
	if r.Bool() {
		s.tables = readTables(r)
	}
	for range r.Count(8) {
		s.products = append(s.products, readProducts(r))
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

// append appends p, of matrices the upper triangle; nil is of 0 functions.
func (p *products) append(b []byte) []byte {
	if p == nil {
		return wire.AppendInt(b, 0)
	}
	b = wire.AppendInt(b, p.n)
	for i := range p.n {
		b = wire.AppendNumbers(b, p.gram[i*p.n+i:(i+1)*p.n])
		b = wire.AppendNumbers(b, p.sandwich[i*p.n+i:(i+1)*p.n])
	}
	return wire.AppendNumbers(wire.AppendNumbers(b, p.score), []float64{p.weight, p.square})
}

func readProducts(r *wire.Reader) *products {
	n := r.AtMost(math.MaxInt16)
	if n == 0 {
		return nil
	}
	if 8*(n*(n+1)+n+2) > r.Left() {
		r.Fail("products of %d functions end too early", n)
		return nil
	}
	p := newProducts(n)
	for i := range n {
		r.Numbers(p.gram[i*n+i : (i+1)*n])
		r.Numbers(p.sandwich[i*n+i : (i+1)*n])
	}
	r.Numbers(p.score)
	p.weight, p.square = r.Float(), r.Float()
	return p
}
