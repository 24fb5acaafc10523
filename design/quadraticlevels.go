package design

import "slices"

// Neighbours of which each row has entries in one at most, as smooths by the levels of a factor are, are to a form
// what one basis with all of their columns is: a row has the entries of one of them. Bands have a way of their own.

// levelsWork is memory for such bases.
type levelsWork struct {
	x    []Columns
	dims []int
	all  []*Sparse // one for each run of neighbours
	set  []uint64  // the rows that have entries in one of a run
	work *QuadraticWork
}

// joined are x, of n rows, with neighbours joined, and their dimensions; nil: there are none.
func (w *levelsWork) joined(x []Columns, n int) ([]Columns, []int) {
	w.x, w.dims = w.x[:0], w.dims[:0]
	runs := 0
	for b := 0; b < len(x); {
		end := w.run(x, b)
		c := x[b]
		if end-b > 1 {
			if runs == len(w.all) {
				w.all = append(w.all, &Sparse{})
			}
			w.all[runs].join(x[b:end], n)
			c = w.all[runs]
			runs++
		}
		_, d := c.Dims()
		w.x, w.dims = append(w.x, c), append(w.dims, d)
		b = end
	}
	if runs == 0 {
		return nil, nil
	}
	return w.x, w.dims
}

// run is where the neighbours end that begin with basis b.
func (w *levelsWork) run(x []Columns, b int) int {
	first := levelOf(x[b])
	if first == nil {
		return b + 1
	}
	w.set = append(w.set[:0], first.set...)
	end := b + 1
	for ; end < len(x); end++ {
		o := levelOf(x[end])
		if o == nil || entriesIn(x[end]) != entriesIn(x[b]) || !apart(w.set, o.set) {
			break
		}
		for i, word := range o.set {
			w.set[i] |= word
		}
	}
	return end
}

// levelOf are the rows of a basis that may be joined; nil: it may not.
func levelOf(c Columns) *occupied {
	if _, band := c.(*Banded); band {
		return nil
	}
	o, _ := occupiedOf(c)
	return o
}

// join makes x n rows with the entries of one of several bases each, or with zeros.
func (x *Sparse) join(bases []Columns, n int) {
	x.D, x.K, x.cells, x.occupied = 0, entriesIn(bases[0]), nil, nil
	x.Index, x.Value = grown(x.Index, n*x.K), grown(x.Value, n*x.K)
	clear(x.Value)
	for l := range x.Index {
		x.Index[l] = int32(l % x.K)
	}
	for _, c := range bases {
		o, _ := occupiedOf(c)
		start := int32(x.D)
		for _, i := range o.rows {
			index, value := x.of(i), x.Value[int(i)*x.K:][:x.K]
			switch c := c.(type) {
			case *Sparse:
				copy(index, c.of(i))
				copy(value, c.Value[int(i)*x.K:])
			case *Product:
				c.row((*[16]int32)(index), (*[16]float64)(value), int(i))
			}
			for l := range index {
				index[l] += start
			}
		}
		_, d := c.Dims()
		x.D += d
	}
}

// ofDims is the same form of other bases that have the same columns.
func (q *Quadratic) ofDims(dims []int) *Quadratic {
	q.other.Lock()
	defer q.other.Unlock()
	if o := q.other.form; o != nil && slices.Equal(o.dims, dims) {
		return o
	}
	o := &Quadratic{dims: slices.Clone(dims), starts: []int{0}, c: q.c, data: q.data, stride: q.stride, mean: q.mean}
	for b, d := range dims {
		o.starts = append(o.starts, o.starts[b]+d)
	}
	q.other.form = o
	return o
}
