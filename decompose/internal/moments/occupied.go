package moments

import "github.com/pho-go/pho/design"

// A smooth by the levels of a factor is 0 in the rows of the other levels, which are left out of its
// products.

// occupied are the rows of a band that are not 0.
type occupied struct {
	rows   []int32
	picked design.Picked
	x      design.Columns // these rows, in the memory of picked
	s      []float64      // their weights
}

// rowsOf are rows of two bases with their weights.
type rowsOf struct {
	a, b design.Columns
	s    []float64
}

// findOccupied finds the bands most of whose rows are 0.
func (c *ScatterChunk) findOccupied(x []design.Columns, s []float64) {
	if c.few == nil {
		c.few, c.memory = make([]*occupied, len(x)), make([]*occupied, len(x))
	}
	for u, a := range x {
		c.few[u] = nil
		band, ok := a.(*design.Banded)
		if !ok {
			continue
		}
		if c.memory[u] == nil {
			c.memory[u] = &occupied{}
		}
		o := c.memory[u]
		if o.rows, ok = design.Occupied(o.rows[:0], band, len(s)/2); !ok {
			continue
		}
		o.x, _ = o.picked.Of(band, o.rows)
		o.s = o.s[:0]
		for _, i := range o.rows {
			o.s = append(o.s, s[i])
		}
		c.few[u] = o
	}
}

// both are the rows of x[u] and x[v] that may have products.
func (c *ScatterChunk) both(x []design.Columns, s []float64, u, v int) rowsOf {
	a, b := c.few[u], c.few[v]
	switch {
	case a != nil && b != nil && apart(a.rows, b.rows):
		return rowsOf{}
	case a != nil:
		if other, ok := c.picked.Of(x[v], a.rows); ok {
			return rowsOf{a.x, other, a.s}
		}
	case b != nil:
		if other, ok := c.picked.Of(x[u], b.rows); ok {
			return rowsOf{other, b.x, b.s}
		}
	}
	return rowsOf{x[u], x[v], s}
}

// apart tells whether two increasing lists have nothing in common.
func apart(a, b []int32) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return false
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return true
}
