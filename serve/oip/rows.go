package oip

import (
	"math"
	"slices"
)

// Plain rows, objects of cells by the names of columns, stand for tensors where a request has rows in place of
// inputs:
//
//	{"rows": [{"age": 40, "region": "north"}, {"age": null, "region": "south"}], "parameters": {"na": "drop"}}
//
// They are no part of the protocol. Each column becomes an input of the shape [n] or, where its cells are arrays,
// [n, ...]: of BYTES if its cells are texts, of BOOL if they are truth values, else of FP64.

// column is a tensor that rows fill.
type column struct {
	Tensor
	levels levels
	filled int // rows
}

// mostPassed is how many names of columns are kept that are not.
const mostPassed = 1000

func (p *parser) rows() error {
	var columns []*column
	place := map[string]*column{}
	n := 0
	err := p.array("an array, the rows", func() error {
		n++
		next := 0 // the column that the field before suggests: rows mostly have the same order
		return p.object("an object, a row", func(name []byte) error {
			if p.r.Reads != nil && !p.r.Reads(name) {
				if n == 1 && len(p.r.Passed) < mostPassed {
					p.r.Passed = append(p.r.Passed, string(name))
				}
				return p.skip(1)
			}
			var c *column
			if next < len(columns) && columns[next].Name == string(name) {
				c = columns[next]
			} else if c = place[string(name)]; c == nil {
				c = &column{Tensor: Tensor{Name: string(name), Datatype: FP64, Shape: []int{0}, binary: -1, given: true}}
				c.levels.t = &c.Tensor
				columns, place[c.Name] = append(columns, c), c
			}
			next++
			return p.field(c, n)
		})
	})
	for _, c := range columns {
		if c.Shape[0] = n; c.Absent == 0 && c.filled < n {
			c.Absent = c.filled + 1
		}
		if c.kind == texts {
			c.Numbers, c.Datatype = nil, Bytes
		} else if c.Codes = nil; c.kind == booleans {
			c.Datatype = Bool
		}
		p.r.Inputs = append(p.r.Inputs, c.Tensor)
	}
	p.r.Rows = n
	return err
}

// field reads a cell of row n. Of columns that some row lacks nothing is kept.
func (p *parser) field(c *column, n int) error {
	switch {
	case c.filled == n:
		return errorf("data row %d has two fields %q", n, c.Name)
	case c.Absent == 0 && c.filled < n-1:
		c.Absent = c.filled + 1
	}
	c.filled = n
	if c.Absent > 0 {
		return p.skip(1)
	}
	return p.cell(c, n)
}

func (p *parser) cell(c *column, n int) error {
	switch p.peek() {
	case '"':
		text, err := p.text()
		if err != nil {
			return err
		}
		c.Codes = append(c.Codes, c.levels.code(text))
		return c.is(texts, n)
	case 'n':
		if err := p.word("null"); err != nil {
			return err
		}
		if len(c.Shape) > 1 {
			return c.is(nothing, n)
		}
		c.Numbers, c.Codes = append(c.Numbers, math.NaN()), append(c.Codes, -1) // which of the two it is shows later
		return nil
	case 't', 'f':
		yes, err := p.boolean()
		if err != nil {
			return err
		}
		v := 0.0
		if yes {
			v = 1
		}
		c.Numbers = append(c.Numbers, v)
		return c.is(booleans, n)
	case '[':
		return p.cells(c, n)
	case '{':
		return errorf("data row %d: column %q is an object, and cells are numbers, texts, true, false, null or arrays of numbers", n, c.Name)
	}
	v, err := p.number()
	if err != nil {
		return err
	}
	c.Numbers = append(c.Numbers, v)
	return c.is(numbers, n)
}

// is refuses cells of several kinds in a column.
func (c *column) is(k kind, n int) error {
	words := [...]string{nothing: "null", numbers: "a number", texts: "a text", booleans: "true or false", arrays: "an array"}
	switch {
	case c.kind == nothing && (k != arrays || n == 1):
		c.kind = k
	case k == nothing || c.kind == nothing:
		return errorf("data row %d: column %q is %s, and %s before it: where numbers of an array are missing, they are null, and not the array", n, c.Name, words[k], words[c.kind])
	case c.kind != k:
		return errorf("data row %d: column %q is %s, and %s in rows before it: send cells of one kind", n, c.Name, words[k], words[c.kind])
	}
	return nil
}

// cells reads a cell that is an array, and holds its shape to those of the rows before.
func (p *parser) cells(c *column, n int) error {
	if err := c.is(arrays, n); err != nil {
		return err
	}
	a := nested{row: n, leaf: -1}
	if err := p.nested(c, &a, 0); err != nil {
		return err
	}
	if n == 1 {
		c.Shape = append(c.Shape, a.shape...)
	}
	if !slices.Equal(c.Shape[1:], a.shape) {
		return errorf("data row %d: the array of column %q has the shape %v, and %v in rows before it", n, c.Name, a.shape, c.Shape[1:])
	}
	return nil
}

// nested is an array of arrays while it is read.
type nested struct {
	row   int
	shape []int // -1: not known yet
	leaf  int   // how deep numbers lie; -1: not known yet
}

// maxAxes is how many axes a row may have, as a tensor has one more.
const maxAxes = 15

func (p *parser) nested(c *column, a *nested, depth int) error {
	ragged := func() error {
		return errorf("data row %d: the array of column %q has lists of different lengths or depths", a.row, c.Name)
	}
	if depth == maxAxes {
		return errorf("data row %d: the array of column %q is more than %d deep", a.row, c.Name, maxAxes)
	}
	if depth == len(a.shape) {
		a.shape = append(a.shape, -1)
	}
	count := 0
	err := p.array("an array", func() error {
		count++
		v := math.NaN()
		switch p.peek() {
		case '[':
			if a.leaf >= 0 && depth >= a.leaf {
				return ragged()
			}
			return p.nested(c, a, depth+1)
		case 'n':
			if err := p.word("null"); err != nil {
				return err
			}
		case '"', '{', 't', 'f':
			return errorf("data row %d: the array of column %q holds something else than numbers and null", a.row, c.Name)
		default:
			var err error
			if v, err = p.number(); err != nil {
				return err
			}
		}
		if a.leaf >= 0 && a.leaf != depth || len(a.shape) > depth+1 {
			return ragged()
		}
		a.leaf = depth
		c.Numbers = append(c.Numbers, v)
		return nil
	})
	if err != nil {
		return err
	}
	if a.shape[depth] < 0 {
		a.shape[depth] = count
	} else if a.shape[depth] != count {
		return ragged()
	}
	return nil
}

// AppendRows appends the answer with plain rows in place of outputs: an object for each row, of numbers by the names
// of the outputs, null where there is none.
func (r *Response) AppendRows(b []byte, rows int) []byte {
	b = r.appendHead(b)
	b = append(b, `,"rows":[`...)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for k := range r.Outputs {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(AppendText(b, r.Outputs[k].Name), ':')
			b = r.Outputs[k].appendCell(b, i)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// appendCell appends row i: a number, or those of a matrix.
func (o *Result) appendCell(b []byte, i int) []byte {
	if !o.Matrix {
		return AppendNumber(b, o.Columns[0][i])
	}
	b = append(b, '[')
	for j, c := range o.Columns {
		if j > 0 {
			b = append(b, ',')
		}
		b = AppendNumber(b, c[i])
	}
	return append(b, ']')
}
