package design

import "github.com/pho-go/pho/internal/base/kernel"

// A form of a single basis with few entries in a row needs few numbers of C at a time.
// They are put next to each other once, for every place where a row's entries may be.

// cellNumbers are those of a band's place: the upper triangle of C there, row by row, with
// twice what is off the diagonal, then -2 C m.
const cellNumbers = kernel.Band*(kernel.Band+1)/2 + kernel.Band

// ofOne is a form of one basis, tabulated.
type ofOne struct {
	cells []float64 // cellNumbers of each place where a cubic band may begin
	shift float64   // m'C m
	codes []float64 // the form at each code; the last one's: at none
}

// single sets dst to the form at rows of codes without values, of cubic bands, or of one
// dense column, and tells whether x holds such.
func (k *QuadraticWork) single(dst []float64, x []Columns) bool {
	if len(x) != 1 {
		return false
	}
	switch x := x[0].(type) {
	case Dense:
		if k.of.dims[0] != 1 {
			return false
		}
		k.column(dst, x)
		return true
	case *Codes:
		if x.Value != nil {
			return false
		}
		k.coded(dst, x)
		return true
	case *Banded:
		if !straight(x) {
			return false
		}
		k.banded(dst, x)
		return true
	}
	return false
}

func (k *QuadraticWork) column(dst []float64, x Dense) {
	c, mean, m := k.of.c.At(0, 0), k.of.mean[0], x.RawMatrix()
	for i := range dst {
		v := m.Data[i*m.Stride] - mean
		dst[i] = c * v * v
	}
}

func (k *QuadraticWork) coded(dst []float64, x *Codes) {
	if k.one.codes == nil {
		k.one.codes = k.of.atCodes()
	}
	for i, j := range x.Code {
		if j < 0 {
			j = int32(x.D)
		}
		dst[i] = k.one.codes[j]
	}
}

// atCodes are the values at rows with a 1 in one column, and at one without.
func (q *Quadratic) atCodes() []float64 {
	linear, shift := q.linear()
	out := make([]float64, len(linear)+1)
	for j, l := range linear {
		out[j] = q.c.At(j, j) + l + shift
	}
	out[len(linear)] = shift
	return out
}

// linear is -2 C m and m'C m.
func (q *Quadratic) linear() (linear []float64, shift float64) {
	linear = make([]float64, len(q.mean))
	for j, v := range q.times(q.mean) {
		linear[j] = -2 * v
		shift += v * q.mean[j]
	}
	return linear, shift
}

func (k *QuadraticWork) banded(dst []float64, x *Banded) {
	if k.one.cells == nil {
		k.one.cells, k.one.shift = k.of.atBands(x.starts())
	}
	for i, first := range x.First {
		c, v := (*[cellNumbers]float64)(k.one.cells[int(first)*cellNumbers:]), (*[kernel.Band]float64)(x.Value[i*kernel.Band:])
		v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
		s0 := c[0]*v0 + c[1]*v1 + (c[2]*v2 + c[3]*v3) + c[10]
		s1 := c[4]*v1 + c[5]*v2 + c[6]*v3 + c[11]
		s2 := c[7]*v2 + c[8]*v3 + c[12]
		s3 := c[9]*v3 + c[13]
		dst[i] = (s0*v0 + s1*v1) + (s2*v2 + s3*v3) + k.one.shift
	}
}

// atBands are the cells of so many places, and m'C m.
func (q *Quadratic) atBands(starts int) (cells []float64, shift float64) {
	linear, shift := q.linear()
	for s := range starts {
		for l := range kernel.Band {
			cells = append(cells, q.c.At(s+l, s+l))
			for m := l + 1; m < kernel.Band; m++ {
				cells = append(cells, 2*q.c.At(s+l, s+m))
			}
		}
		cells = append(cells, linear[s:s+kernel.Band]...)
	}
	return cells, shift
}
