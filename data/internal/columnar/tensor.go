package columnar

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxRow is how many numbers a row of a tensor may have.
const MaxRow = 32 << 20

// Size is how many numbers a row of a Tensor has, as messages say it: "12 numbers (3 x 4)".
func (f Field) Size() string { return SizeOf(f.Width, f.Shape) }

// SizeOf is Size of so many numbers of a shape, which may be nil.
func SizeOf(width int, shape []int) string {
	if len(shape) < 2 {
		return numbersText(width)
	}
	axes := make([]string, len(shape))
	for i, n := range shape {
		axes[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("%s (%s)", numbersText(width), strings.Join(axes, " x "))
}

func numbersText(n int) string {
	if n == 1 {
		return "1 number"
	}
	return strconv.Itoa(n) + " numbers"
}

// UnequalFault reports a row with so many numbers, or another shape, in a tensor of rows of the given shape.
func UnequalFault(row, numbers int, shape []int) *Fault {
	want := Product(shape)
	f := &Fault{Row: row, unequal: true, Cell: "a list of " + numbersText(numbers), Reason: fmt.Sprintf("is a row of another shape than the first, of %s: all rows need one shape; fill shorter ones up, as the network was trained, or leave them out", SizeOf(want, shape))}
	if numbers == want {
		f.Cell = "a list of lists of unequal lengths"
	}
	return f
}

// Product is how many numbers a shape has.
func Product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// indexOf is where number k of a row is in its shape, axis by axis from 0.
func indexOf(k int, shape []int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis], k = k%shape[axis], k/shape[axis]
	}
	return at
}

// Layout is how the numbers of a row of a tensor lie: Shape has the axes as they are stored, and axis k of the row
// that is read is axis Order[k] of them. Order nil: as they are stored.
type Layout struct{ Shape, Order []int }

// Read is the shape of a row that is read.
func (l Layout) Read() []int {
	if l.Order == nil {
		return l.Shape
	}
	shape := make([]int, len(l.Order))
	for k, axis := range l.Order {
		shape[k] = l.Shape[axis]
	}
	return shape
}

// Turn brings the numbers of rows, one after the other, from the order in which they are stored into that in which
// they are read.
func (l Layout) Turn(rows []float64) {
	if l.Order == nil {
		return
	}
	shape, width := l.Read(), Product(l.Shape)
	step := make([]int, len(shape)) // between numbers that follow each other along an axis that is read
	for k, axis := range l.Order {
		step[k] = Product(l.Shape[axis+1:])
	}
	own, at := make([]float64, width), make([]int, len(shape))
	for ; len(rows) > 0; rows = rows[width:] {
		copy(own, rows)
		from := 0
		for i := range width {
			rows[i] = own[from]
			for k := len(shape) - 1; k >= 0; k-- {
				at[k]++
				from += step[k]
				if at[k] < shape[k] {
					break
				}
				from -= at[k] * step[k]
				at[k] = 0
			}
		}
	}
}

// FixedShape reads what Arrow's extension type arrow.fixed_shape_tensor says of rows of so many numbers.
func FixedShape(metadata string, width int) (Layout, error) {
	var said struct{ Shape, Permutation []int }
	if err := json.Unmarshal([]byte(metadata), &said); err != nil {
		return Layout{}, fmt.Errorf("the shape of its rows cannot be read: %w", err)
	}
	total := 1
	for _, n := range said.Shape {
		if n < 1 || n > MaxRow/total {
			return Layout{}, fmt.Errorf("the shape of its rows is %v", said.Shape)
		}
		total *= n
	}
	if len(said.Shape) == 0 || total != width {
		return Layout{}, fmt.Errorf("the shape of its rows is %v, and they have %s", said.Shape, numbersText(width))
	}
	order := said.Permutation
	axes := make([]int, len(said.Shape))
	for k := range axes {
		axes[k] = k
	}
	if order == nil || slices.Equal(order, axes) {
		return Layout{Shape: said.Shape}, nil
	}
	if !slices.Equal(slices.Sorted(slices.Values(order)), axes) {
		return Layout{}, errors.New("the permutation of its axes is none")
	}
	return Layout{said.Shape, order}, nil
}
