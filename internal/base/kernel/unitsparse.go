package kernel

import "unsafe"

// Gradients of weights behind a Relu: of the units that they multiply, half the numbers are 0.

// sparseRun is how many rows have their masks made at once, of as many units as there is
// memory for masks.
const (
	sparseRun   = 8 * sparseChunk
	sparseUnits = fewMasks / (sparseRun / sparseChunk)
)

// addNonzeros is AddProduct for whole panels: by what is not 0 in x where that is little.
func (r *Rows[T]) addNonzeros(c []T, ldc int, x []T, p, j, cols int) {
	ld := UnitStride[T](r.n)
	for i := 0; i < r.n; i += sparseRun {
		end := min(i+sparseRun, r.n)
		for u := 0; u < p; u += sparseUnits {
			c, x, units := c[u*ldc:], x[u*ld:], min(sparseUnits, p-u)
			if !r.addRun(c, ldc, x, units, j, cols, i, end) {
				r.addTiles(c, ldc, x, units, j, cols, i, end)
			}
		}
	}
}

// addRun adds what rows from to end-1 have to so many columns from j on, and tells whether; it
// does not if many numbers of x are not 0.
func (r *Rows[T]) addRun(c []T, ldc int, x []T, p, j, cols, from, end int) bool {
	var masks [fewMasks]uint64
	ld, size := UnitStride[T](r.n), uintptr(sizeOf[T]())
	x, n, chunks := x[from:], end-from, (end-from+sparseChunk-1)/sparseChunk
	if p > sparseSample && !fewNonzeros(r.isa, masks[:], x, ld, sparseSample, n) || !fewNonzeros(r.isa, masks[:], x, ld, p, n) {
		return false
	}
	d, nr := r.data[j*r.rows():], r.panelUnits()
	s := sparse{rs: uintptr(ld) * size, ms: uintptr(8 * chunks), bs: uintptr(r.rows()*nr) * size, c: at(c, j), cs: uintptr(ldc) * size}
	s.x, s.xs = s.c, s.cs
	for l := range chunks {
		s.a, s.mask, s.b = at(x, l*sparseChunk), unsafe.Pointer(&masks[l]), at(d, (from+l*sparseChunk)*nr)
		sparseRows[T](r.isa, s, p, cols/nr)
	}
	return true
}
