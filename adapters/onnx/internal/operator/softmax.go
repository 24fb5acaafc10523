package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// softmaxAxes are the axes from:to that a softmax sums over. Before opset 13 the
// tensor is taken as a matrix split at axis.
type softmaxAxes struct{ from, to int }

func checkSoftmax(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	shape, def := c.Inputs[0].Shape, int64(-1)
	if c.Version < 13 {
		def = 1
	}
	at, err := graph.Axis(c.AttrInt("axis", def), len(shape))
	if err != nil {
		return err
	}
	end := at + 1
	if c.Version < 13 {
		end = len(shape)
	}
	if graph.HasRows(shape[at:end]) {
		return fmt.Errorf("mixes rows: it sums over the batch axis of %s", graph.ShapeText(shape))
	}
	c.Resolved = softmaxAxes{at, end}
	return c.Set(0, c.Inputs[0].Type, shape)
}

func compileSoftmax[T kernel.Float](logarithm bool) func(*graph.Node) Step[T] {
	return func(n *graph.Node) Step[T] {
		a := n.Resolved.(softmaxAxes)
		return func(x *Exec[T]) error {
			shape := x.In[0].Shape
			outer, size, inner := graph.Product(shape[:a.from]), graph.Product(shape[a.from:a.to]), graph.Product(shape[a.to:])
			if size == 0 {
				return nil
			}
			softmaxAll(x.Out[0].F, x.In[0].F, outer, size, inner, logarithm, x.temp(softmaxWork(outer, size, inner)))
			return nil
		}
	}
}

// Sizes by which a softmax is computed one way or another. No bit of a result depends on it:
// sums are in float64 and in order, whichever way.
const (
	longRow     = 48   // from here on a row is worth calls of its own
	fewRows     = 8    // from here on rows are worth being turned into columns
	manyColumns = 16   // from here on columns are worth calls where they lie
	columnBlock = 256  // columns at a time
	softmaxRoom = 4096 // elements at a time, as far as there may be so few columns
)

// gathersColumns reports whether softmaxAll puts columns side by side: where they lie, too few
// are next to each other.
func gathersColumns(outer, size, inner int) bool {
	if inner == 1 {
		return size < longRow && outer >= fewRows
	}
	return inner > 0 && inner < manyColumns
}

// gatheredColumns is how many of them.
func gatheredColumns(size int) int {
	return min(columnBlock, max(manyColumns, softmaxRoom/size/manyColumns*manyColumns))
}

// softmaxWork is the length of the buffer that softmaxAll needs.
func softmaxWork(outer, size, inner int) int {
	if gathersColumns(outer, size, inner) {
		return size * min(gatheredColumns(size), outer*inner)
	}
	return 0
}

// softmaxAll works on outer x size x inner elements, along size; dst may be src.
func softmaxAll[T kernel.Float](dst, src []T, outer, size, inner int, logarithm bool, buf []T) {
	switch {
	case gathersColumns(outer, size, inner):
		many := gatheredColumns(size) / inner
		for o := 0; o < outer; o += many {
			n := min(many, outer-o)
			from, ld := src[o*size*inner:], n*inner
			gatherColumns(buf, ld, from, n, size, inner)
			softmaxColumns(buf, buf, ld, size, ld, logarithm)
			spreadColumns(dst[o*size*inner:], buf, ld, n, size, inner)
		}
	case inner == 1:
		for at := 0; at < outer*size; at += size {
			softmaxRow(dst[at:at+size], src[at:at+size], logarithm)
		}
	default:
		for o := range outer {
			for i := 0; i < inner; i += columnBlock {
				at := o*size*inner + i
				softmaxColumns(dst[at:], src[at:], inner, size, min(columnBlock, inner-i), logarithm)
			}
		}
	}
}

// gatherColumns puts n x inner columns of size elements side by side, ld apart.
func gatherColumns[T kernel.Float](dst []T, ld int, src []T, n, size, inner int) {
	if inner == 1 {
		kernel.Transpose(dst, ld, src, size, n, size)
		return
	}
	for o := range n {
		for k := range size {
			copy(dst[k*ld+o*inner:][:inner], src[(o*size+k)*inner:])
		}
	}
}

// spreadColumns is the inverse of gatherColumns.
func spreadColumns[T kernel.Float](dst, src []T, ld, n, size, inner int) {
	if inner == 1 {
		kernel.Transpose(dst, size, src, ld, size, n)
		return
	}
	for o := range n {
		for k := range size {
			copy(dst[(o*size+k)*inner:][:inner], src[k*ld+o*inner:])
		}
	}
}

// softmaxColumns works on n columns, at most columnBlock, of size elements that are ld apart;
// dst may be src. Where a column has NaN its sum is NaN, and so is all of it.
func softmaxColumns[T kernel.Float](dst, src []T, ld, size, n int, logarithm bool) {
	var room, exps [columnBlock]T
	var totals, wide [columnBlock]float64
	top, total := room[:n], totals[:n]
	copy(top, src)
	for k := 1; k < size; k++ {
		kernel.Max(top, top, src[k*ld:][:n])
	}
	for k := range size {
		row := dst[k*ld:][:n]
		kernel.Sub(row, src[k*ld:][:n], top)
		e := row
		if logarithm {
			e = exps[:n]
		}
		kernel.Exp(e, row)
		addTo(total, e, wide[:n])
	}
	if logarithm {
		for i, x := range total {
			total[i] = math.Log(x)
		}
	}
	shift := room[:n]
	fromFloat64(shift, total)
	for k := range size {
		row := dst[k*ld:][:n]
		if logarithm {
			kernel.Sub(row, row, shift)
		} else {
			kernel.Div(row, row, shift)
		}
	}
}

// addTo adds v to total; room is as long.
func addTo[T kernel.Float](total []float64, v []T, room []float64) {
	switch v := any(v).(type) {
	case []float64:
		kernel.Add(total, total, v)
	case []float32:
		kernel.ToFloat64(room, v)
		kernel.Add(total, total, room)
	}
}

func fromFloat64[T kernel.Float](dst []T, src []float64) {
	switch dst := any(dst).(type) {
	case []float64:
		copy(dst, src)
	case []float32:
		kernel.ToFloat32(dst, src)
	}
}

// softmaxRow works on one row; dst may be src.
func softmaxRow[T kernel.Float](dst, src []T, logarithm bool) {
	subtractLargest(dst, src)
	if !logarithm {
		kernel.Exp(dst, dst)
		kernel.Div(dst, dst, []T{T(addUp(0, dst))})
		return
	}
	var exps [columnBlock]T
	total := 0.0
	for part := range slices.Chunk(dst, len(exps)) {
		kernel.Exp(exps[:len(part)], part)
		total = addUp(total, exps[:len(part)])
	}
	kernel.Sub(dst, dst, []T{T(math.Log(total))})
}

// subtractLargest sets dst to src less the largest of it, which is NaN if one is.
func subtractLargest[T kernel.Float](dst, src []T) {
	if len(src) >= longRow {
		kernel.Sub(dst, src, []T{slices.Max(src)})
		return
	}
	top := src[0]
	for _, x := range src[1:] {
		top = max(top, x)
	}
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x - top
	}
}

// addUp adds v to total in order.
func addUp[T kernel.Float](total float64, v []T) float64 {
	for _, x := range v {
		total += float64(x)
	}
	return total
}
