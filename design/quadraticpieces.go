package design

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// mostInner bounds the columns of the bands that a form is written in: more would not stay in a cache.
const mostInner = 4096

// inner is a form of the bands of interpolated columns: of rows x = z'V it is z'(V C V')z.
type inner struct {
	sync.Mutex
	of    []*Pieces // of each band, nil: columns of another kind
	about []float64 // that the columns are about, one basis after the other
	form  *Quadratic
}

// bandsWork are the bands of interpolated columns in a form.
type bandsWork struct {
	of    []*Pieces // of each band, nil: columns of another kind
	bands []Columns
	about []float64
	work  *QuadraticWork // of the form in terms of the bands
}

// inBands finds the bands of x, and the work of their form; false: there are too many knots.
func (k *QuadraticWork) inBands(x []Columns) (bool, error) {
	w, q := &k.pieces, k.of
	w.of, w.bands, w.about = w.of[:0], w.bands[:0], w.about[:0]
	columns := 0
	for b, c := range x {
		p, ok := c.(*Interpolated)
		if !ok {
			w.of, w.bands, columns = append(w.of, nil), append(w.bands, c), columns+q.dims[b]
			continue
		}
		for l := range p.Parts {
			part := &p.Parts[l]
			w.of, w.bands, columns = append(w.of, part.Of), append(w.bands, &part.Band), columns+part.Band.D
		}
		w.about = append(w.about, p.About...)
	}
	if columns > mostInner {
		return false, nil
	}
	i := &q.inner
	i.Lock()
	defer i.Unlock()
	if i.form == nil || !slices.Equal(i.of, w.of) || !slices.Equal(i.about, w.about) {
		form, err := q.inBands(x, columns)
		if err != nil {
			return false, err
		}
		i.of, i.about, i.form = slices.Clone(w.of), slices.Clone(w.about), form
	}
	if w.work == nil || w.work.of != i.form {
		w.work = i.form.Work()
	}
	return true, nil
}

// inBands is q in terms of the bands of x, which have so many columns: E C E', E having the values of pieces about their
// means in diagonal blocks, and mean 0 where these are.
func (q *Quadratic) inBands(x []Columns, columns int) (*Quadratic, error) {
	p := q.starts[len(q.dims)]
	c := mat.NewDense(p, p, nil)
	for i := range p {
		copy(c.RawRowView(i), q.data[i*q.stride:][:p])
	}
	half := mat.DenseCopyOf(q.timesBands(x, c, columns).T()) // C E', C being symmetric
	all := q.timesBands(x, half, columns).RawMatrix()
	form := mat.NewSymDense(columns, all.Data)
	var dims []int
	mean := make([]float64, 0, columns)
	for b, c := range x {
		if i, ok := c.(*Interpolated); ok {
			for l := range i.Parts {
				d := i.Parts[l].Band.D
				dims, mean = append(dims, d), append(mean, make([]float64, d)...)
			}
			continue
		}
		dims, mean = append(dims, q.dims[b]), append(mean, q.mean[q.starts[b]:q.starts[b+1]]...)
	}
	return NewQuadraticIn(dims, form, mean)
}

// timesBands is E m (columns x n) for m (p x n).
func (q *Quadratic) timesBands(x []Columns, m *mat.Dense, columns int) *mat.Dense {
	_, n := m.Dims()
	out, to := mat.NewDense(columns, n, nil), 0
	for b, c := range x {
		at := q.starts[b]
		i, ok := c.(*Interpolated)
		if !ok {
			out.Slice(to, to+q.dims[b], 0, n).(*mat.Dense).Copy(m.Slice(at, q.starts[b+1], 0, n))
			to += q.dims[b]
			continue
		}
		first := at
		for l := range i.Parts {
			d, rows := i.Parts[l].Of.d, i.Parts[l].Band.D
			values := i.about(nil, l, at-first)
			i.Parts[l].Of.subtract(values, q.mean[at:at+d])
			turned := mat.DenseCopyOf(mat.NewDense(rows, d, values).T()).RawMatrix()
			kernel.AddCross(out.RawMatrix().Data[to*n:], n, turned.Data, turned.Stride, rows, m.RawMatrix().Data[at*n:], n, n, d, nil)
			at, to = at+d, to+rows
		}
	}
	return out
}

// interpolated is Rows of bases of which some are.
func (k *QuadraticWork) interpolated(dst []float64, x []Columns) error {
	ok, err := k.inBands(x)
	if err != nil {
		return err
	}
	if ok {
		return k.pieces.work.Rows(dst, k.pieces.bands)
	}
	full := slices.Clone(x)
	for b, c := range x {
		if interpolated(c) {
			n, d := c.Dims()
			rows := Dense{mat.NewDense(n, d, nil)}
			if err := ToDense(rows.Dense, c); err != nil {
				return err
			}
			full[b] = rows
		}
	}
	return k.Rows(dst, full)
}
