package moments

import "github.com/pho-go/pho/design"

// together tells whether the product of two joined bases is added up with that of the first one and the
// responses: rows of sparse columns are brought together by cells for both at once.
func together(a, b design.Columns) bool {
	_, dense := b.(design.Dense)
	return dense && inCells(a)
}

// inCells tells whether rows of such columns are brought together by cells.
func inCells(a design.Columns) bool {
	switch a.(type) {
	case *design.Sparse, *design.Product:
		return true
	}
	return false
}

// addResponses adds the products of joined basis u with the responses, and what goes together with them. The
// last of the responses is 1: without weights that product is the columns' sums too, of dense ones about the shift.
func (b *Chunk) addResponses(u int, c design.Columns, x []design.Columns, w []float64, r design.Dense) error {
	b.to, b.with = b.to[:0], b.with[:0]
	if inCells(c) {
		for i, q := range b.joined {
			if dense, ok := x[q.b].(design.Dense); ok && q.a == u {
				b.to, b.with = append(b.to, b.views[i]), append(b.with, dense)
			}
		}
	}
	if !b.panel.unit {
		b.to, b.with = append(b.to, b.rViews[u]), append(b.with, r)
		return b.work.AddCrosses(b.to, c, b.with, w)
	}
	b.part.Reset()
	b.part.ReuseAs(b.rViews[u].Dims())
	b.to, b.with = append(b.to, &b.part), append(b.with, r)
	if err := b.work.AddCrosses(b.to, c, b.with, nil); err != nil {
		return err
	}
	b.rViews[u].Add(b.rViews[u], &b.part)
	lo, hi, n := b.panel.off[u], b.panel.off[u+1], float64(b.panel.n)
	for j := lo; j < hi; j++ {
		b.sum[j] += b.part.At(j-lo, b.layout.Responses) + n*b.shift[j]
	}
	return nil
}
