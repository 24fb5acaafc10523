package arrow

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// lists reports whether the values are lists that all lie in one run of elements.
func (v *node) lists() bool {
	return v.index == 0 && len(v.children) == 1 && (v.kind == typeList || v.kind == typeLargeList || v.kind == typeFixedSizeList)
}

// tensor says what becomes of lists, of lists of lists and so on.
func (v *node) tensor() columnar.Field {
	f := columnar.Field{Kind: columnar.Tensor, Type: names[v.kind]}
	leaf, shape := v, []int{}
	for ; leaf.lists(); leaf = leaf.children[0] {
		shape = append(shape, leaf.size)
	}
	if one := leaf.field(); one.Kind != columnar.Number || one.Unit != "" {
		f.Kind, f.Type, f.Why = columnar.Refused, f.Type+" of what is no number", "store lists of numbers, or its parts as columns of their own"
		return f
	}
	width := 1
	for _, n := range shape {
		if n < 0 {
			return f // the first row tells
		}
		if n == 0 || n > columnar.MaxRow/width {
			f.Kind, f.Type, f.Why = columnar.Refused, fmt.Sprintf("lists of the lengths %v", shape), fmt.Sprintf("a row has a number at least, and no more than %d", columnar.MaxRow)
			return f
		}
		width *= n
	}
	layout, err := columnar.Layout{Shape: shape}, error(nil)
	if v.shape != "" {
		layout, err = columnar.FixedShape(v.shape, width)
	}
	if err != nil {
		f.Kind, f.Why = columnar.Refused, err.Error()
		return f
	}
	v.axes, f.Width, f.Shape = layout, width, layout.Read()
	return f
}

// extent is where the elements of rows row to row+n are: list i has those from ends[i] to ends[i+1]-1.
func (c *column) extent(row int64, n int) ([]int64, error) {
	ends := make([]int64, n+1)
	if c.kind == typeFixedSizeList {
		for i := range ends {
			ends[i] = (row + int64(i)) * int64(c.size)
		}
		return ends, nil
	}
	bits := 32
	if c.kind == typeLargeList {
		bits = 64
	}
	b, err := c.data.items(row, int64(n)+1, int64(bits))
	if err != nil {
		return nil, err
	}
	for i := range ends {
		ends[i] = signed(b, i, bits)
		if ends[i] < 0 || i > 0 && ends[i] < ends[i-1] || ends[i] > c.child.rows {
			return nil, errors.New("the offsets of its lists are outside their elements: the file is damaged")
		}
	}
	return ends, nil
}

// missing is which of rows row to row+n-1 are null; nil: none.
func (c *column) missing(row int64, n int) ([]bool, error) {
	if c.valid == nil {
		return nil, nil
	}
	valid, err := c.valid.bitmap(row, int64(n))
	if err != nil {
		return nil, err
	}
	null := make([]bool, n)
	valid.zeros(n, func(i int) { null[i] = true })
	return null, nil
}

// extents are extent and missing.
func (c *column) extents(row int64, n int) (ends []int64, null []bool, err error) {
	if ends, err = c.extent(row, n); err == nil {
		null, err = c.missing(row, n)
	}
	return ends, null, err
}

// tensor decodes rows row to row+n-1.
func (c *column) tensor(row int64, n int, v *columnar.Values) error {
	width := columnar.Product(c.axes.Shape)
	if c.axes.Shape == nil { // all rows of the file are missing
		return nil
	}
	if from, to, leaf, err := c.span(row, n); err != nil {
		return err
	} else if bits := int64(max(leaf.bits, 1)); to < from || to > leaf.data.size/bits*8+leaf.data.size%bits*8/bits {
		return errors.New("its lists have more numbers than there are: the file is damaged")
	}
	out := columnar.Fresh(n * width)
	v.Tensor = mat.NewDense(n, width, out)
	shape := c.axes.Shape
	if c.kind == typeFixedSizeList && c.shape != "" { // one list for all axes
		shape = []int{width}
	}
	var err error
	if v.Fault, err = c.elements(row, n, shape, out); err != nil {
		return err
	}
	if f := v.Fault; f != nil { // later rows are not looked at
		if f.Reason != columnar.Inexact {
			from, to, _, err := c.span(row+int64(f.Row), 1)
			if err != nil {
				return err
			}
			v.Fault = columnar.UnequalFault(f.Row, int(to-from), c.axes.Shape)
		}
		clear(out[v.Fault.Row*width:])
		return nil
	}
	c.axes.Turn(out)
	return nil
}

// span is where the numbers of rows row to row+n-1 are, in leaf.
func (c *column) span(row int64, n int) (from, to int64, leaf *column, err error) {
	from, to = row, row+int64(n)
	for ; c.lists(); c = c.child {
		first, err := c.extent(from, 0)
		if err != nil {
			return 0, 0, nil, err
		}
		last, err := c.extent(to, 0)
		if err != nil {
			return 0, 0, nil, err
		}
		from, to = first[0], last[0]
	}
	return from, to, c, nil
}

// elements decodes lists row to row+n-1, of the given shape, into dst. The fault is of the first list that has another
// one, or a number that float64 would round, of those lists before which there is none; its row is that of a list.
func (c *column) elements(row int64, n int, shape []int, dst []float64) (*columnar.Fault, error) {
	if n == 0 {
		return nil, nil
	}
	if !c.lists() {
		var v columnar.Values
		err := c.read(row, n, nil, &v)
		copy(dst, v.Numbers)
		return v.Fault, err
	}
	ends, null, err := c.extents(row, n)
	if err != nil {
		return nil, err
	}
	own := columnar.Product(shape) // of a list
	for i := 0; i < n; {
		if null != nil && null[i] {
			for k := range own {
				dst[i*own+k] = columnar.Null
			}
			i++
			continue
		}
		j := i // lists i to j-1 have the length
		for j < n && (null == nil || !null[j]) && ends[j+1]-ends[j] == int64(shape[0]) {
			j++
		}
		fault, err := c.child.elements(ends[i], (j-i)*shape[0], shape[1:], dst[i*own:j*own])
		if err != nil {
			return nil, err
		}
		if fault != nil {
			fault.Row = i + fault.Row/shape[0]
			return fault, nil
		}
		if i = j; i < n && (null == nil || !null[i]) {
			return columnar.UnequalFault(i, int(ends[i+1]-ends[i]), shape), nil
		}
	}
	return nil, nil
}

// shapeOf is that of the first list from row row to row+n-1 of which nothing is missing; nil: there is none.
func (c *column) shapeOf(row int64, n int) ([]int, error) {
	if !c.lists() {
		return []int{}, nil
	}
	const few = 4096 // looked at at a time: hostile numbers take no memory
	for ; n > few; row, n = row+few, n-few {
		if shape, err := c.shapeOf(row, few); shape != nil || err != nil {
			return shape, err
		}
	}
	ends, null, err := c.extents(row, n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		size := ends[i+1] - ends[i]
		if null != nil && null[i] || size == 0 {
			continue
		}
		if size > columnar.MaxRow {
			return nil, fmt.Errorf("a row has more than %d numbers, which is more than it may have", columnar.MaxRow)
		}
		inner, err := c.child.shapeOf(ends[i], int(size))
		if err != nil {
			return nil, err
		}
		if inner != nil {
			return append([]int{int(size)}, inner...), nil
		}
	}
	return nil, nil
}

// loadLists decompresses what tells the shape.
func (c *column) loadLists(z *inflater) error {
	for ; c != nil && c.lists(); c = c.child {
		for _, b := range []*buffer{c.valid, c.data} {
			if b == nil {
				continue
			}
			if err := b.decompress(z); err != nil {
				return err
			}
		}
	}
	return nil
}

// shapes finds the shapes of rows that the schema does not tell, each by the first row that has all its lists.
func (t *table) shapes(r data.File) {
	for i := range t.fields {
		f, v := &t.fields[i], t.nodes[i]
		if f.Kind != columnar.Tensor || v.axes.Shape != nil {
			continue
		}
		err := columnar.Guard(t.Name(), f.Name, func() (err error) {
			v.axes.Shape, err = t.firstShape(r, i)
			return err
		})
		if err == nil && v.axes.Shape != nil {
			f.Shape = v.axes.Shape
			f.Width = 1
			for _, n := range f.Shape {
				if n > columnar.MaxRow/f.Width {
					err = fmt.Errorf("a row has more than %d numbers, which is more than it may have", columnar.MaxRow)
					break
				}
				f.Width *= n
			}
		}
		if err != nil { // told when the column is asked for
			f.Kind, f.Type, f.Why = columnar.Refused, "a list of no shape that is known", err.Error()
		}
	}
}

// firstShape is the shape of the first row of a column that has one; nil: none has.
func (t *table) firstShape(r data.File, field int) ([]int, error) {
	var z inflater
	defer z.close()
	for _, m := range t.messages {
		if m.rows == 0 {
			continue
		}
		meta := root(m.meta)
		b, err := newBatch(r, m, meta.table(2), meta.int(0, 2, 0), &columnar.Budget{Limit: t.memory})
		if err != nil {
			return nil, err
		}
		for at := range field {
			b.skip(t.nodes[at])
		}
		c, err := b.column(t.nodes[field])
		if err != nil {
			return nil, err
		}
		if err := c.loadLists(&z); err != nil {
			return nil, err
		}
		if shape, err := c.shapeOf(0, int(m.rows)); shape != nil || err != nil {
			return shape, err
		}
	}
	return nil, nil
}
