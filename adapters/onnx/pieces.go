package onnx

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/piecewise"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/design"
)

// unitPieces are the units of a learned term as functions of one number.
type unitPieces struct {
	of        structure.Element // the number
	functions *design.Pieces
}

// Units are worth pieces if there are so many, and so few knots that tables of knots by knots take less than products
// of the units in 4096 rows do.
const (
	fewestUnits  = 16
	knotsPerUnit = 4096
)

// findPieces looks for learned terms of which the engine computes all units as piecewise linear functions of one number,
// and tells whether there are any. The number is then all that is kept of a row.
func (m *Model) findPieces() bool {
	m.pieces = map[*structure.Tap]*unitPieces{}
	if m.runner == nil {
		return false
	}
	for _, t := range m.structure.found.Taps {
		if p := m.piecesOf(t); p != nil {
			m.pieces[t] = p
		}
	}
	return len(m.pieces) > 0
}

func (m *Model) piecesOf(t *structure.Tap) *unitPieces {
	v := t.Elements[0].Value
	functions, z, column := m.runner.Pieces(v)
	if len(t.Elements) < fewestUnits || functions == nil {
		return nil
	}
	if own, ok := m.graph.g.Value(z.Name); !ok || own != z {
		return nil
	}
	from := 0
	for g, f := range functions {
		units, ok := make([]int, len(t.Elements)), true
		for i, e := range t.Elements {
			units[i] = e.Index - from
			ok = ok && e.Value == v && 0 <= units[i] && units[i] < f.Outputs()
		}
		if ok {
			if p := piecesOf(f, units); p != nil {
				return &unitPieces{structure.Element{Value: z, Index: column + g}, p}
			}
			return nil
		}
		from += f.Outputs()
	}
	return nil
}

// piecesOf are some outputs of f; nil: too many knots.
func piecesOf(f *piecewise.Function, units []int) *design.Pieces {
	knots, values, before, behind := f.Knots()
	if len(knots)*len(knots) > knotsPerUnit*len(units) {
		return nil
	}
	n, all := len(units), f.Outputs()
	own, left, right := mat.NewDense(len(knots), n, nil), make([]float64, n), make([]float64, n)
	for i, u := range units {
		left[i], right[i] = before[u], behind[u]
		for j := range knots {
			own.Set(j, i, values[j*all+u])
		}
	}
	p, err := design.NewPieces(knots, own, left, right)
	if err != nil {
		return nil // units that are no function of the number
	}
	return p
}
