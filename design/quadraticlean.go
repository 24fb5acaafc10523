package design

// A row's code picks a row of C, of which few numbers are needed: not those of the other codes. Where there
// are many codes these few are copied to lie next to each other, since C itself stays in no cache. Where others have most columns the
// copy would be nearly all of C, for each goroutine.

// minLeanCodes is from how many codes on that is a gain.
const minLeanCodes = 128

// lean is C without the columns [lo, hi) of a coded basis but for the diagonal; data is C itself where
// there is no such basis.
type lean struct {
	basis  int // -1: none
	lo, hi int
	data   []float64
	stride int
	diag   []float64
}

// chooseLean is the largest coded basis of those that go entry by entry.
func (k *QuadraticWork) chooseLean(x []Columns) int {
	chosen := -1
	for b, c := range x {
		_, codes := c.(*Codes)
		if d := k.of.dims[b]; codes && k.now[b] && d >= minLeanCodes && 2*d >= len(k.of.mean) && (chosen < 0 || d > k.of.dims[chosen]) {
			chosen = b
		}
	}
	return chosen
}

// prepareLean copies what is left of C without basis b's columns.
func (k *QuadraticWork) prepareLean(b int) {
	w := &k.lean
	*w = lean{basis: b, data: k.of.data, stride: k.of.stride}
	if b < 0 {
		return
	}
	p := len(k.of.mean)
	w.lo, w.hi = k.of.starts[b], k.of.starts[b+1]
	w.stride = p - (w.hi - w.lo)
	w.data, w.diag = make([]float64, 0, p*w.stride), make([]float64, p)
	for j := range p {
		row := k.row(j)
		w.data = append(append(w.data, row[:w.lo]...), row[w.hi:]...)
		w.diag[j] = row[j]
	}
}

// column is where C's column j is in data.
func (w *lean) column(j int) int {
	if j >= w.hi {
		return j - (w.hi - w.lo)
	}
	return j
}

// at is an entry of C; not both i and j are of the basis.
func (w *lean) at(i, j int) float64 {
	if w.lo <= j && j < w.hi {
		i, j = j, i
	}
	return w.data[i*w.stride+w.column(j)]
}

// onDiagonal is entry (j, j).
func (w *lean) onDiagonal(j int) float64 {
	if w.diag == nil {
		return w.data[j*w.stride+j]
	}
	return w.diag[j]
}

// row is row j from C's column from on, where no column of the basis follows that is read.
func (w *lean) row(j, from int) []float64 { return w.data[j*w.stride+w.column(from) : (j+1)*w.stride] }
