package design

import "github.com/pho-go/pho/internal/base/kernel"

// fill copies the rows: dense columns centred, the others' entries behind one another.
func (k *QuadraticWork) fill(x []Columns, n int) {
	k.singles = 0
	k.chooseCells(x)
	k.listBands(x)
	for b, c := range x {
		switch {
		case !k.thin[b] || b == k.cells.basis || straight(c):
		default:
			k.singles += entriesIn(c)
		}
	}
	asTheyAre := k.uncentred(x)
	if k.rows = asTheyAre; asTheyAre == nil {
		k.centred = grown(k.centred, n*k.width)
		k.rows = k.centred
	}
	if k.singles > 0 {
		k.index, k.value, k.count = grown(k.index, n*k.singles), grown(k.value, n*k.singles), grown(k.count, n)
		clear(k.index)
		clear(k.value)
		clear(k.count)
	}
	for b, c := range x {
		start := k.of.starts[b]
		switch {
		case b == k.cells.basis: // see addCells
		case !k.thin[b] && asTheyAre != nil: // they are there
		case !k.thin[b]:
			k.fillDense(c, start, k.at[b], n)
		case straight(c): // listed
		default:
			k.fillSingles(c, start, n)
		}
	}
}

// straight tells whether the entries of a row are four neighbours that do not wrap round.
func straight(c Columns) bool {
	b, ok := c.(*Banded)
	return ok && b.K == 4 && !b.Cyclic
}

// uncentred are the rows of the dense columns where they are, if these are of one basis and about 0; else nil.
func (k *QuadraticWork) uncentred(x []Columns) []float64 {
	for b, c := range x {
		if k.thin[b] {
			continue
		}
		c, ok := c.(Dense)
		if !ok || k.of.dims[b] != k.width || c.RawMatrix().Stride != k.width || !zeros(k.of.mean[k.of.starts[b]:k.of.starts[b+1]]) {
			return nil
		}
		return c.RawMatrix().Data
	}
	return nil
}

func zeros(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

func (k *QuadraticWork) fillDense(c Columns, start, at, n int) {
	_, d := c.Dims()
	mean := k.of.mean[start : start+d]
	if c, ok := c.(Dense); ok {
		m, none := c.RawMatrix(), zeros(mean)
		if d == k.width && d == m.Stride {
			k.centre(k.rows[:n*d], m.Data[:n*d], mean)
			return
		}
		for i := range n {
			to, from := k.rows[i*k.width+at:][:d], m.Data[i*m.Stride:][:d]
			if d == 1 { // a call for each number would take longer
				to[0] = from[0] - mean[0]
				continue
			}
			if none {
				copy(to, from)
				continue
			}
			kernel.Sub(to, from, mean)
		}
		return
	}
	for i := range n {
		row := k.rows[i*k.width+at:][:d]
		for j, m := range mean {
			row[j] = -m
		}
	}
	if c, ok := c.(*Codes); ok {
		for i, j := range c.Code {
			if j >= 0 {
				k.rows[i*k.width+at+int(j)] += weight(c.Value, i)
			}
		}
		return
	}
	_ = entriesOf(c).each(func(i, j int, v float64) { k.rows[i*k.width+at+j] += v }) // checked by Rows
}

// centre sets rows to from less the means, several rows at a time, for rows may be short.
func (k *QuadraticWork) centre(rows, from, mean []float64) {
	const some = 256
	for len(k.means) < max(some, len(mean)) {
		k.means = append(k.means, mean...)
	}
	for len(rows) > 0 {
		n := min(len(k.means), len(rows))
		kernel.Sub(rows[:n], from[:n], k.means[:n])
		rows, from = rows[n:], from[n:]
	}
}

func (k *QuadraticWork) fillSingles(c Columns, start, n int) {
	if c, ok := c.(*Codes); ok {
		for i, j := range c.Code {
			if j >= 0 {
				to := k.count[i]*n + i
				k.index[to], k.value[to] = int32(start)+j, at(c.Value, i)
				k.count[i]++
			}
		}
		return
	}
	_ = entriesOf(c).each(func(i, j int, v float64) {
		to := k.count[i]*n + i
		k.index[to], k.value[to] = int32(start+j), v
		k.count[i]++
	})
}
