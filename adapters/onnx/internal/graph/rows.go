package graph

import "slices"

// A batch axis of size outer*N*inner holds N rows, of each outer times inner entries:
// what a Reshape makes of [outer N inner] when it joins these three axes, and of which
// Batch, with one entry of each row, is the plain case. The memory is that of the axes
// apart, so an operator that does the same to every index of such an axis keeps rows
// apart; one that treats indices differently must know which row they belong to.
//
// In a Shape the axis is one number below -1<<62, far from sizes that were miscalculated.

const (
	rowsMark = -1 << 62
	rowsBits = 31
)

// MaxAround is the largest number of entries before, and behind, the rows of an axis.
const MaxAround = 1<<30 - 1

// RowsAxis marks an axis of outer*N*inner entries; false if it has none, or too many.
// A Reshape that joins axes with the rows makes one. The memory is that of the separate axes, so
// operators that do the same at every index need no change; rewriting the graph on separate axes
// would need the attributes of every operator a second time.
func RowsAxis(outer, inner int) (d int, ok bool) {
	switch {
	case outer < 1 || inner < 1 || outer > MaxAround || inner > MaxAround:
		return 0, false
	case outer == 1 && inner == 1:
		return Batch, true
	}
	return rowsMark - outer<<rowsBits - inner, true
}

// IsRows reports whether an axis of a Shape is the batch axis, of any layout.
func IsRows(d int) bool { return d == Batch || d < rowsMark }

// AroundRows are the entries around the rows on an axis: it has outer*N*inner. Other
// axes have none.
func AroundRows(d int) (outer, inner int) {
	switch {
	case d == Batch:
		return 1, 1
	case d < rowsMark:
		d = rowsMark - d
		return d >> rowsBits, d & (1<<rowsBits - 1)
	}
	return 0, 0
}

// PerRow is the number of entries that each row has on an axis: its size, if it is not
// the batch axis.
func PerRow(d int) int {
	if !IsRows(d) {
		return d
	}
	outer, inner := AroundRows(d)
	return outer * inner
}

// RowsIn is the position of the batch axis in a shape, -1 if it has none.
func RowsIn(shape []int) int { return slices.IndexFunc(shape, IsRows) }

// HasRows reports whether a shape has a batch axis.
func HasRows(shape []int) bool { return RowsIn(shape) >= 0 }

// Around is the number of elements that each row has before and after the rows in a
// shape with a batch axis.
func Around(shape []int) (outer, inner int) {
	at := RowsIn(shape)
	outer, inner = AroundRows(shape[at])
	return Product(shape[:at]) * outer, inner * Product(shape[at+1:])
}

// AtRows appends the shape that a tensor has with that many rows.
func AtRows(dst, shape []int, rows int) []int {
	for _, d := range shape {
		if IsRows(d) {
			d = PerRow(d) * rows
		}
		dst = append(dst, d)
	}
	return dst
}
