package kernel

import "unsafe"

// Sums of products of units with one number for each row: of layers of one output, or of one
// input. Tiles would be filled badly.

// unitDot is the argument of the assembly that adds whole vectors of units, times a number
// for each row, to a sum for each unit. It knows the offsets of the fields.
type unitDot struct {
	src    unsafe.Pointer // first unit
	ss     uintptr        // bytes between units
	with   unsafe.Pointer // numbers of the rows
	n      uintptr        // vectors of rows, at least one
	sum    unsafe.Pointer
	blocks uintptr // vectors of units, at least one
	// Of oneInput alone: sums of the rows times the numbers rowsOfDot behind with, and a mask
	// of the units where they are switched on, 0 elsewhere; nil: all are on.
	sums, mask unsafe.Pointer
}

// rowsOfDot is the number of rows that go together.
const rowsOfDot = 64

// addColumn is AddProduct for rows of one number, d; c is whole vectors.
func (r *Rows[T]) addColumn(c, x, d []T) {
	ld, lanes := UnitStride[T](r.n), lanes[T](avx512)
	_, width := r.panel(0)
	var with [rowsOfDot]T // what is behind the last row counts 0 times
	for i := 0; i < r.n; i += rowsOfDot {
		n := min(rowsOfDot, r.n-i)
		for k := range n {
			with[k] = d[(i+k)*width]
		}
		clear(with[n:])
		runUnitDot[T](&unitDot{
			src: at(x, i), ss: uintptr(ld * sizeOf[T]()), with: at(with[:], 0), n: uintptr((n + lanes - 1) / lanes),
			sum: at(c, 0), blocks: uintptr(len(c) / lanes),
		})
	}
}

// AddOneInput adds gradients of a layer of one input: to weights the q units times x, a unit
// of n rows, and to biases the units. It is Turn with mask, AddProduct and AddSums, but what
// it leaves in r and units is unspecified.
func (r *Rows[T]) AddOneInput(weights, biases, x, units, mask []T, q, n int) {
	r.addOneInput(best(), weights, biases, x, units, mask, q, n)
}

func (r *Rows[T]) addOneInput(s isa, weights, biases, x, units, mask []T, q, n int) {
	ld, lanes := UnitStride[T](n), lanes[T](avx512)
	weights, biases, x, units = weights[:q], biases[:q], x[:ld], units[:q*ld]
	if mask != nil {
		mask = mask[:len(units)]
	}
	if s != avx512 || q%lanes != 0 || q == 0 {
		r.turn(s, units, mask, q, n)
		for j := 0; j < q; j += r.Columns(j) {
			r.AddProduct(weights, q, x, 1, j)
		}
		r.AddSums(biases)
		return
	}
	var with [2 * rowsOfDot]T
	fill(with[rowsOfDot:], 1)
	for i := 0; i < n; i += rowsOfDot {
		k := copy(with[:rowsOfDot], x[i:n])
		clear(with[k:rowsOfDot]) // what is behind the last row counts 0 times
		clear(with[rowsOfDot+k:])
		d := unitDot{
			src: at(units, i), ss: uintptr(ld * sizeOf[T]()), with: at(with[:], 0), n: uintptr((k + lanes - 1) / lanes),
			sum: at(weights, 0), blocks: uintptr(q / lanes), sums: at(biases, 0),
		}
		if mask != nil {
			d.mask = at(mask, i)
		}
		runOneInput[T](&d)
	}
}
