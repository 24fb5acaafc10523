package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/internal/base/wire"
)

func (v *columnScan) tag() partTag { return valuesTag }

func (v *columnScan) add(next part) error {
	n := next.(*columnScan)
	if v.column != n.column {
		return fmt.Errorf("values of the columns %q and %q do not add up", v.column, n.column)
	}
	return v.Merge(&n.Values)
}

func (v *columnScan) write(b []byte) []byte { return v.Append(wire.AppendText(b, v.column)) }

func readColumn(r *wire.Reader) *columnScan { return &columnScan{r.Text(), distinct.ReadValues(r)} }

func (s *pointScan) tag() partTag { return pointsTag }

func (s *pointScan) add(next part) error {
	n := next.(*pointScan)
	if !slices.Equal(s.columns, n.columns) {
		return fmt.Errorf("points of the columns %q and %q do not add up", s.columns, n.columns)
	}
	for j := range s.columns {
		s.min[j], s.max[j] = min(s.min[j], n.min[j]), max(s.max[j], n.max[j])
	}
	return s.Merge(n.Points)
}

func (s *pointScan) write(b []byte) []byte {
	b = s.Append(wire.AppendTexts(b, s.columns))
	if s.Rows > 0 {
		for j := range s.columns {
			b = wire.AppendFloat(wire.AppendFloat(b, s.min[j]), s.max[j])
		}
	}
	return b
}

func readPointScan(r *wire.Reader) *pointScan {
	s := &pointScan{columns: r.Texts()}
	s.Points = distinct.ReadPoints(r)
	if s.D != len(s.columns) {
		r.Fail("points of %d columns, and %d are named", s.D, len(s.columns))
	}
	for range s.columns {
		lo, hi := math.Inf(1), math.Inf(-1)
		if s.Rows > 0 {
			lo, hi = readRange(r)
		}
		s.min, s.max = append(s.min, lo), append(s.max, hi)
	}
	return s
}
