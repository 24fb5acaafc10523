package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RowShape is the shape of one row of v, the batch axis kept with size 1.
func (v *Value) RowShape() []int {
	d := make([]int, len(v.Shape))
	for i, n := range v.Shape {
		d[i] = n
		if n == Batch {
			d[i] = 1
		}
	}
	return d
}

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

// ShapeText writes a shape with N for the rows: [N 10].
func ShapeText(shape []int) string {
	var s []string
	for _, d := range shape {
		if d == Batch {
			s = append(s, "N")
		} else {
			s = append(s, strconv.Itoa(d))
		}
	}
	return "[" + strings.Join(s, " ") + "]"
}

// Elements is the product of the sizes; ok is false if it overflows or a size
// is negative. Batch counts as 1: the elements of one row.
func Elements(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d == Batch {
			continue
		}
		if d < 0 {
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
// a batch axis or a size of 1.
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
		case x == Batch || y == Batch:
			return nil, fmt.Errorf("the batch axis meets a fixed size of %d (shapes %v and %v); export the model with a dynamic batch axis", max(x, y), a, b)
		default:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out, nil
}
