package drift

import (
	"gonum.org/v1/gonum/floats"
)

// tally is a cell of the rows of one source as they come. Sums over runs of rows are added to
// those of all, so that rounding does not grow with the rows.
type tally struct {
	layout       *layout
	rows, closed int64 // closed: clusters
	run          int   // rows in part
	part, all    []float64
	counts       [][]int64
	open         map[string]*cluster
	names        []string // of open, in the order in which they came
	block        *cluster // that is being filled; nil: none
	inBlock      int
}

// runRows is how many rows are summed before they are added to the others.
const runRows = 1024

func newTally(l *layout, features []Bins) *tally {
	t := &tally{layout: l, part: make([]float64, l.length), all: make([]float64, l.length), open: map[string]*cluster{}}
	t.counts = make([][]int64, len(features))
	for j := range features {
		t.counts[j] = make([]int64, features[j].count())
	}
	return t
}

// count counts row i in the bins of its columns; those of columns that are not there are none.
func (t *tally) count(bins [][]int, i int) {
	for j, places := range bins {
		if places == nil {
			t.counts[j] = nil
		}
		if t.counts[j] != nil {
			t.counts[j][places[i]]++
		}
	}
}

// row adds a row to first and second moments.
func (t *tally) row(w float64, values [][]float64, fit *[2]float64) {
	if t.rows++; t.run == runRows {
		t.settle()
	}
	t.run++
	t.part[weightAt] += w
	t.part[squaresAt] += w * w
	for k, v := range values {
		at := t.layout.predictors[k]
		first, second := t.part[at.first:][:at.m], t.part[at.second:]
		for i, a := range v {
			wa := w * a
			first[i] += wa
			for j, b := range v[i:] {
				second[j] += wa * b
			}
			second = second[at.m-i:]
		}
	}
	if fit != nil {
		t.part[t.layout.fit] += w * fit[0]
		t.part[t.layout.fit+1] += w * fit[1]
	}
}

// settle adds the run to all.
func (t *tally) settle() {
	floats.Add(t.all, t.part)
	clear(t.part)
	t.run = 0
}

// blocked adds a row to the cluster that it is itself, or to the block that is being filled.
func (t *tally) blocked(w float64, values [][]float64, fit *[2]float64, rows int) {
	if t.block == nil {
		t.block = newCluster(t.layout)
	}
	t.block.row(w, values, fit)
	if t.inBlock++; t.inBlock >= rows {
		t.close(t.block)
		clear(t.block.sums)
		t.inBlock = 0
	}
}

// close adds the products of a cluster's sums.
func (t *tally) close(c *cluster) {
	t.closed++
	w := c.sums[0]
	t.part[clusterAt] += w * w
	at := 1
	for _, p := range t.layout.predictors {
		e := c.sums[at+2*p.m-2] // the first of the last part, which is eta
		for j := range p.m {
			u := [4]float64{w, c.sums[at], e, c.sums[at+1]}
			at += 2
			out := t.part[p.cluster+pairs*j:][:pairs]
			n := 0
			for i, x := range u {
				for _, y := range u[i:] {
					out[n] += x * y
					n++
				}
			}
		}
	}
	if t.layout.fit > 0 {
		out := t.part[t.layout.fit+2:]
		for i, v := range c.sums[at:] {
			out[2*i] += w * v
			out[2*i+1] += v * v
		}
	}
}

// cell is what was added.
func (t *tally) cell() (*cell, error) {
	for i, name := range t.names {
		if i%runRows == 0 {
			t.settle()
		}
		t.close(t.open[name])
	}
	if t.inBlock > 0 {
		t.close(t.block)
	}
	t.settle()
	c := &cell{Rows: t.rows, Clusters: t.closed, Counts: t.counts, Sums: newSums(t.layout.length)}
	for i, v := range t.all {
		c.Sums.addTo(i, v)
	}
	return c, c.Sums.finite()
}

// cluster is the sums over rows that depend on each other: of the weights, and of w a and
// w a e of each part; last of the error and the loss, if there are any.
type cluster struct{ sums []float64 }

func newCluster(l *layout) *cluster {
	n := 1
	for _, p := range l.predictors {
		n += 2 * p.m
	}
	if l.fit > 0 {
		n += 2
	}
	return &cluster{make([]float64, n)}
}

func (c *cluster) row(w float64, values [][]float64, fit *[2]float64) {
	c.sums[0] += w
	at := c.sums[1:]
	for _, v := range values {
		e := v[len(v)-1]
		for j, a := range v {
			at[2*j] += w * a
			at[2*j+1] += w * a * e
		}
		at = at[2*len(v):]
	}
	if fit != nil {
		at[0] += w * fit[0]
		at[1] += w * fit[1]
	}
}
