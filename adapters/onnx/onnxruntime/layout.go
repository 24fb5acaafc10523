package onnxruntime

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
)

// layout is how a tensor's memory holds the rows of a call: outer times all rows, one after
// the other, each as inner numbers side by side.
type layout struct {
	element
	outer, inner int
	rows         int
}

// batchAxis is the axis that holds the rows, some of them several times: its size is
// negative.
func batchAxis(t onnx.Tensor) int {
	return slices.IndexFunc(t.Shape, func(d int) bool { return d < 0 })
}

// whole is t with the rows of a call, and how they lie in it.
func (ev *evaluator) whole(g *onnx.Graph, t onnx.Tensor) (Tensor, layout) {
	all := Tensor{Name: t.Name, Type: t.Type}
	l := layout{element: elements[t.Type], rows: ev.rows}
	l.outer, l.inner = g.RowLayout(t.Name)
	at := batchAxis(t)
	for i, d := range t.Shape {
		switch {
		case i < at:
			l.outer *= d
		case i > at:
			l.inner *= d
		default:
			d *= onnx.Batch * ev.rows
		}
		all.Shape = append(all.Shape, int64(d))
	}
	return all, l
}

// at is the memory of part o of row r.
func (l *layout) at(b []byte, o, r int) []byte {
	from := (o*l.rows + r) * l.inner * l.size
	return b[from : from+l.inner*l.size]
}

// enter writes n rows, rows first, and fills the others with copies of the last.
func (l *layout) enter(dst []byte, src []float64, n int) error {
	for r := range n {
		for o := range l.outer {
			if err := l.put(l.at(dst, o, r), src[(r*l.outer+o)*l.inner:][:l.inner]); err != nil {
				return fmt.Errorf("row %d: %w", r, err)
			}
		}
	}
	for r := n; r < l.rows; r++ {
		for o := range l.outer {
			copy(l.at(dst, o, r), l.at(dst, o, n-1))
		}
	}
	return nil
}

// leave reads the first n rows, rows first.
func (l *layout) leave(dst []float64, src []byte, n int) {
	for r := range n {
		for o := range l.outer {
			l.get(dst[(r*l.outer+o)*l.inner:][:l.inner], l.at(src, o, r))
		}
	}
}
