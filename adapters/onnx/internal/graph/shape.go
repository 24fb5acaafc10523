package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RowShape is the shape of one row of v, the batch axis kept with as many entries as a
// row has on it: 1 if it is Batch.
func (v *Value) RowShape() []int { return AtRows(make([]int, 0, len(v.Shape)), v.Shape, 1) }

// Width is the number of elements that each row of v has.
func (v *Value) Width() int {
	n, _ := Elements(v.Shape)
	return n
}

// Product of sizes that are known (at run time, or after the batch axis has
// been excluded).
func Product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// ShapeText writes a shape with N for the rows: [N 10], or [4*N*2 10] if the batch axis
// holds each row several times.
func ShapeText(shape []int) string {
	var s []string
	for _, d := range shape {
		s = append(s, axisText(d))
	}
	return "[" + strings.Join(s, " ") + "]"
}

// Whole names an input that one column fills, by what it seems to be and its axes: picture "img", 3 x 64 x 64.
func Whole(v *Value, column string) string {
	at := v.BatchAxis()
	var axes []string
	for i, d := range v.RowShape() {
		if i != at {
			axes = append(axes, strconv.Itoa(d))
		}
	}
	return fmt.Sprintf("%s %q, %s", Kind(v), column, strings.Join(axes, " x "))
}

// Kind is what an input is taken for that one column fills: picture, sequence (of codes) or array.
func Kind(v *Value) string {
	axes := len(v.RowShape())
	if v.BatchAxis() >= 0 {
		axes--
	}
	switch {
	case axes == 3:
		return "picture"
	case axes == 1 && !v.Type.Floating():
		return "sequence"
	}
	return "array"
}

func axisText(d int) string {
	if !IsRows(d) {
		return strconv.Itoa(d)
	}
	outer, inner := AroundRows(d)
	s := "N"
	if outer > 1 {
		s = fmt.Sprintf("%d*N", outer)
	}
	if inner > 1 {
		s += fmt.Sprintf("*%d", inner)
	}
	return s
}

// Elements is the product of the sizes; ok is false if it overflows or a size
// is negative. The batch axis counts as what one row has on it, Batch as 1.
func Elements(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d = PerRow(d); d < 0 {
			return 0, false
		}
		if d != 0 && n > math.MaxInt/64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// Axis makes an axis of a tensor of the given rank non-negative.
func Axis(a int64, rank int) (int, error) {
	if a < int64(-rank) || a >= int64(rank) {
		return 0, fmt.Errorf("axis %d is outside a tensor of %d axes", a, rank)
	}
	if a < 0 {
		a += int64(rank)
	}
	return int(a), nil
}

// AxisSet marks the axes given; repeated ones are an error.
func AxisSet(axes []int64, rank int) ([]bool, error) {
	set := make([]bool, rank)
	for _, a := range axes {
		i, err := Axis(a, rank)
		if err != nil {
			return nil, err
		}
		if set[i] {
			return nil, fmt.Errorf("axis %d is given twice", i)
		}
		set[i] = true
	}
	return set, nil
}

// Broadcast is the shape of two tensors under NumPy's rule; a batch axis meets
// a batch axis of the same layout or a size of 1.
func Broadcast(a, b []int) ([]int, error) {
	n := max(len(a), len(b))
	out := make([]int, n)
	for i := range n {
		x, y := 1, 1
		if j := i - n + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - n + len(b); j >= 0 {
			y = b[j]
		}
		switch {
		case x == y || y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		case IsRows(x) && IsRows(y):
			return nil, fmt.Errorf("mixes rows: its operands, of shapes %s and %s, hold them in another order", ShapeText(a), ShapeText(b))
		case IsRows(x) || IsRows(y):
			return nil, fmt.Errorf("the batch axis meets a fixed size of %d (shapes %s and %s); export the model with a dynamic batch axis", max(x, y), ShapeText(a), ShapeText(b))
		default:
			return nil, fmt.Errorf("shapes %s and %s do not broadcast", ShapeText(a), ShapeText(b))
		}
	}
	return out, nil
}
