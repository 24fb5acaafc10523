package parquet

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data/internal/columnar"
)

// nesting is how a column of lists is stored: as the numbers of all rows, one after the other, each with two levels
// (S. Melnik et al., Dremel, VLDB 2010). The repetition level is 0 where a row begins, and else the axis along which the
// number follows the one before, 1 being the outermost. The definition level is that of all numbers that are there; a
// smaller one says what is not.
type nesting struct {
	absent []absence // by definition level
	axes   int
	layout columnar.Layout // of a row, if the schema or the first row has told
}

// absence is what is not there.
type absence struct {
	depth int  // how many axes lead to it: of a null instead of a whole row 0
	empty bool // an empty list, and no null
}

// nestingOf describes the nesting of the column that these nodes of the schema define, and returns the node of its
// numbers. ok is false if it is no list of values of one kind. ok is false of what is no list of values of one kind.
// Lists are stored by three nodes, or by two without a name for the elements, or by a repeated value alone
// (parquet-format's LogicalTypes.md, Lists).
func nestingOf(nodes []element) (n *nesting, leaf *element, ok bool) {
	n = &nesting{}
	repeat := func() {
		n.absent = append(n.absent, absence{n.axes, true})
		n.axes++
	}
	for k := 0; k < len(nodes); k += 2 {
		e := &nodes[k]
		if e.repetition == optional {
			n.absent = append(n.absent, absence{depth: n.axes})
		}
		if e.children <= 0 {
			if e.repetition == repeated {
				repeat()
			}
			return n, e, n.axes > 0 && (e.repetition != repeated || k == 0)
		}
		l, _, _ := e.meaning()
		if e.repetition == repeated || e.children != 1 || l != logicalList || nodes[k+1].repetition != repeated {
			return nil, nil, false
		}
		repeat()
		switch inner := &nodes[k+1]; {
		case inner.children <= 0:
			return n, inner, true
		case inner.children > 1:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// listField is the column that a list becomes.
func listField(name string, n *nesting, leaf *element) columnar.Field {
	f := columnar.Field{Name: name, Kind: columnar.Tensor, Type: "a list"}
	one := *leaf
	one.repetition = required
	if v := fieldOf(&one); v.Kind != columnar.Number || v.Unit != "" || one.wide() != nil {
		f.Kind, f.Type, f.Why = columnar.Refused, "a list of what is no number", "store lists of numbers, or its parts as columns of their own"
	}
	return f
}

// lists decodes a column of lists whose rows have one shape.
type lists struct {
	numbers
	*nesting
	pattern []uint32 // repetition levels of a row
	stride  []int    // by depth: numbers of an element there

	// Values of a stretch of a page: the levels of all, the numbers of those that are there, and the next of both.
	reps, defs   []uint32 // defs nil: all are there
	there        []float64
	entry, value int
	bad          int    // the first number that float64 would round; -1: none
	cell         string // and its text
}

var errNesting = errors.New("its lists do not close: the file is damaged")

// newLists begins to decode a column; its shape need not be known.
func newLists(e *element, n *numbers) *lists {
	c := &lists{numbers: *n, nesting: e.lists, bad: -1}
	c.stride = make([]int, c.axes+1)
	shape := c.layout.Shape
	if len(shape) != c.axes { // one list for a row of several axes, or no shape yet
		shape = []int{columnar.Product(shape)}
	}
	if c.layout.Shape == nil || len(shape) != c.axes {
		return c
	}
	for d := range c.stride {
		c.stride[d] = columnar.Product(shape[d:])
	}
	c.pattern = make([]uint32, c.stride[0])
	for i := range c.pattern {
		c.pattern[i] = uint32(slices.IndexFunc(c.stride, func(n int) bool { return i%n == 0 }))
	}
	return c
}

// more decodes the levels and numbers of the next stretch. ok is false at the end of the row group.
func (c *lists) more() (ok bool, err error) {
	const few = 1 << 14
	if c.left == 0 {
		if c.pages.rows == 0 {
			return false, nil
		}
		if c.page, err = c.pages.next(); err != nil {
			return false, err
		}
		c.left = c.page.values
		if c.decoder, err = newDecoder(c.page, c.kind, c.width, c.table); err != nil {
			c.decoder = nil
		}
		if c.decoder == nil && len(c.page.body) > 0 {
			return false, err
		}
	}
	n := min(c.left, few)
	c.left -= n
	c.entry, c.value, c.bad, c.cell = 0, 0, -1, ""
	c.reps = grow(c.reps, n)[:n]
	if err := c.page.reps.read(c.reps); err != nil {
		return false, err
	}
	if slices.Max(c.reps) > uint32(c.axes) {
		return false, errNesting
	}
	present, full := n, uint32(len(c.absent))
	if c.defs = nil; !c.page.levels.constant(full, n) {
		c.cells.defs = grow(c.cells.defs, n)
		c.defs = c.cells.defs[:n]
		if err := c.page.levels.read(c.defs); err != nil {
			return false, err
		}
		for _, d := range c.defs {
			if d > full {
				return false, errNesting
			}
			if d < full {
				present--
			}
		}
	}
	c.there = grow(c.there, present)[:present]
	if present == 0 {
		return true, nil
	}
	if c.decoder == nil {
		return false, errValue
	}
	k, cell, err := c.decode(c.there)
	if cell != "" {
		c.bad, c.cell = k, cell
	}
	return true, err
}

// peek decodes a stretch if there is none. ok is false at the end of the row group.
func (c *lists) peek() (ok bool, err error) {
	if c.entry < len(c.reps) {
		return true, nil
	}
	return c.more()
}

// row decodes the next row into dst, which has room for the shape. A fault says what is wrong with the row. dst nil: the row is passed over.
func (c *lists) row(dst []float64) (fault *columnar.Fault, err error) {
	got := 0 // numbers and nulls of the row
	unequal := false
	for first := true; ; first = false {
		ok, err := c.peek()
		if err != nil {
			return nil, err
		}
		if !ok && first {
			return nil, errShort
		}
		if !ok || !first && c.reps[c.entry] == 0 {
			break
		}
		if first && c.reps[c.entry] != 0 {
			return nil, errNesting
		}
		if k := c.run(got, len(dst)); k > 0 && !unequal {
			copy(dst[got:], c.there[c.value:c.value+k])
			if c.value <= c.bad && c.bad < c.value+k && fault == nil {
				fault = &columnar.Fault{Cell: c.cell, Reason: columnar.Inexact}
			}
			c.entry, c.value, got = c.entry+k, c.value+k, got+k
			continue
		}
		unequal = unequal || dst != nil && (got >= len(dst) || c.reps[c.entry] != c.pattern[got])
		switch a := c.absence(); {
		case a == nil:
			if dst != nil && !unequal {
				dst[got] = c.there[c.value]
			}
			if c.value == c.bad && fault == nil {
				fault = &columnar.Fault{Cell: c.cell, Reason: columnar.Inexact}
			}
			c.value++
			got++
		case a.empty:
			unequal = true
		default:
			if int(c.reps[c.entry]) > a.depth {
				return nil, errNesting
			}
			n := c.stride[a.depth]
			if dst != nil && !unequal && n <= len(dst)-got {
				for i := range n {
					dst[got+i] = columnar.Null
				}
			}
			got += n
		}
		c.entry++
	}
	if dst != nil && (unequal || got != len(dst)) {
		return columnar.UnequalFault(0, got, c.layout.Shape), nil
	}
	return fault, nil
}

// run is how many numbers of the stretch are all there, and at their places, from the one at the given place of a row on.
func (c *lists) run(from, to int) (k int) {
	if c.defs != nil || from >= to {
		return 0
	}
	reps := c.reps[c.entry:]
	for k < min(to-from, len(reps)) && reps[k] == c.pattern[from+k] {
		k++
	}
	return k
}

// absence is what the next level says is not there; nil: it is a number.
func (c *lists) absence() *absence {
	if c.defs == nil || int(c.defs[c.entry]) == len(c.absent) {
		return nil
	}
	return &c.absent[c.defs[c.entry]]
}

// read decodes the next n rows.
func (c *lists) read(n int, v *columnar.Values) error {
	width := len(c.pattern)
	if width == 0 { // all rows of the file are missing
		return c.skip(int64(n))
	}
	out := columnar.Fresh(n * width)
	v.Tensor = mat.NewDense(n, width, out)
	for i := range n {
		fault, err := c.row(out[i*width : (i+1)*width])
		if err != nil {
			return err
		}
		if fault != nil { // later rows are not looked at
			fault.Row, v.Fault = i, fault
			clear(out[i*width:])
			return nil
		}
	}
	c.layout.Turn(out)
	return nil
}

// skip passes over the next n rows.
func (c *lists) skip(n int64) error {
	for ; n > 0; n-- {
		if _, err := c.row(nil); err != nil {
			return err
		}
	}
	return nil
}

// shape is that of the first row of which nothing is missing but numbers; nil: there is none.
func (c *lists) shape() ([]int, error) {
	looked := 0
	for row := 0; ; row++ {
		counts := make([]int, c.axes+1) // of elements, by depth
		whole := true
		for first := true; ; first = false {
			ok, err := c.peek()
			if err != nil || !ok && first {
				return nil, err
			}
			if !ok || !first && c.reps[c.entry] == 0 {
				break
			}
			if first && c.reps[c.entry] != 0 {
				return nil, errNesting
			}
			a := c.absence()
			whole = whole && (a == nil || a.depth == c.axes)
			for d := int(c.reps[c.entry]); d <= c.axes; d++ {
				counts[d]++
			}
			if looked++; looked > columnar.MaxRow {
				return nil, fmt.Errorf("none of its first %d numbers and nulls ends a row that has all its lists: longer rows are not read", columnar.MaxRow)
			}
			c.entry++
		}
		if !whole {
			continue
		}
		shape := make([]int, c.axes)
		for d := range shape {
			shape[d] = counts[d+1] / counts[d]
			if shape[d]*counts[d] != counts[d+1] {
				return nil, fmt.Errorf("row %d of its row group has lists of unequal lengths: the rows of a tensor have one shape", row+1)
			}
		}
		return shape, nil
	}
}

// shapes finds the shapes of rows that the schema does not tell, each by the first row that has all its lists.
func (t *table) shapes(r *reader) error {
	var z inflater
	defer z.close()
	for i := range t.fields {
		f := &t.fields[i]
		if f.Kind != columnar.Tensor {
			continue
		}
		n := t.leaves[t.leaf[i]].lists
		for g := 0; g < len(t.meta.groups) && n.layout.Shape == nil; g++ {
			if t.meta.groups[g].rows == 0 {
				continue
			}
			err := columnar.Guard(t.Name(), f.Name, func() (err error) {
				columns, closer, err := t.columns(r, []inflater{z}, &t.meta.groups[g], []int{i})
				defer closer()
				if err != nil {
					return err
				}
				c := columns[0].(*lists)
				n.layout.Shape, err = c.shape()
				return err
			})
			if err != nil { // told when the column is asked for
				f.Kind, f.Type, f.Why = columnar.Refused, "a list of no shape that is known", err.Error()
				t.leaf[i] = -1
				break
			}
		}
		if n.layout.Shape != nil {
			f.Width, f.Shape = columnar.Product(n.layout.Shape), n.layout.Read()
		}
	}
	return nil
}
