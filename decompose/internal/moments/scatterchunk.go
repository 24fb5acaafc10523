package moments

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Weigh sets s to the weights of rows with joined columns x, which are the columns that are stored densely about
// the frame's point: s[0], and with further factors of rows all their products, s[Pair(a, b)] = f_a f_b. again are
// the columns of the frame's copies, with the numbers that were added with the rows.
type Weigh func(s [][]float64, x, again []design.Columns, with *mat.Dense) error

// ScatterChunk accumulates Scatters of the same consecutive rows, one for each Weigh, whose weights are asked for when many rows are
// gathered: what is arranged for the weights serves the products too. It is meant for one goroutine.
type ScatterChunk struct {
	frame *Frame
	weigh []Weigh
	all   Layout // of the bases,
	fused Layout // joined
	of    []int
	off   []int
	from  []float64
	dense []bool // by joined basis

	copies []Copy

	started bool
	panel   panel
	out     []*Scatter // by weigh; nil: no rows so far
	s       [][]float64
	again   []design.Columns
	factors mat.Dense // products of the rows' factors with one of them
	work    design.Work
	to      []*mat.Dense
	with    []design.Dense
}

// NewScatterChunk is an empty chunk, of rows that come with so many numbers for each weigh.
func NewScatterChunk(f *Frame, numbers int, weigh ...Weigh) *ScatterChunk {
	c := &ScatterChunk{frame: f, weigh: weigh, from: f.from(), copies: f.Copies()}
	c.all, c.fused, c.of = f.joined()
	c.off = c.all.offsets()
	c.all.Responses, c.fused.Responses = numbers, numbers*len(weigh)
	c.dense = make([]bool, len(c.fused.Bases))
	for a, u := range c.of {
		c.dense[u] = f.Dense[a]
	}
	return c
}

// start makes room for the chunk's rows, of which x are the first.
func (c *ScatterChunk) start(x []design.Columns) {
	c.started = true
	limit := panelLimit(x, c.all)
	if c.panel.limit != limit {
		c.panel = newPanel(c.fused, c.of, c.off, limit)
		c.s = nil
		for range Pair(0, c.frame.Shape().factors()) {
			c.s = append(c.s, make([]float64, limit))
		}
	}
	c.panel.reset()
	for u, dense := range c.dense {
		if dense && (len(c.copies) > 0 || !c.panel.storePieces(u, x)) {
			c.panel.storeDense(u)
		}
	}
}

// Add adds rows with the columns x of the bases; with has their numbers, for one weigh after the other. The operands are read, not
// kept.
func (c *ScatterChunk) Add(x []design.Columns, with *mat.Dense) error {
	if c.out == nil {
		c.out = c.empty(nil)
	}
	if !c.started {
		c.start(x)
	}
	for a, columns := range x {
		if c.panel.accepts(a, columns) {
			continue
		}
		if err := c.flush(); err != nil {
			return err
		}
		c.panel.store(a, x)
	}
	n, _ := with.Dims()
	for i := 0; i < n; {
		j := min(n, i+c.panel.limit-c.panel.n)
		c.panel.add(x, nil, with, i, j)
		if i = j; c.panel.n == c.panel.limit {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Take is the sums, by weigh, and makes the chunk empty; into are those of the next, nil, or nil in it, being new memory.
func (c *ScatterChunk) Take(into []*Scatter) ([]*Scatter, error) {
	err := c.flush()
	out := c.out
	if out == nil {
		out = c.empty(nil)
	}
	if c.out, c.started = nil, false; into != nil {
		c.out = c.empty(into)
	}
	return out, err
}

// empty are sums of no rows, in the memory of into.
func (c *ScatterChunk) empty(into []*Scatter) []*Scatter {
	out := make([]*Scatter, len(c.weigh))
	for k := range out {
		if into != nil && into[k] != nil {
			out[k] = into[k]
			out[k].Clear()
		} else {
			out[k] = c.frame.NewScatter()
		}
	}
	return out
}

// flush adds the products of the panel's rows and empties it.
func (c *ScatterChunk) flush() error {
	p := &c.panel
	if p.n == 0 {
		return nil
	}
	_, x, with, ones := p.rows()
	for u, columns := range x {
		switch columns := columns.(type) {
		case interface{ Arrange() }:
			columns.Arrange()
		case design.Dense:
			if c.dense[u] {
				p.minus(columns.Dense, c.from[p.off[u]:p.off[u+1]])
			}
		case *design.Interpolated:
			columns.About = c.from[p.off[u]:p.off[u+1]]
		}
	}
	s := make([][]float64, len(c.s))
	for i := range s {
		s[i] = c.s[i][:p.n]
	}
	c.again = c.again[:0]
	for i := range c.copies {
		c.again = append(c.again, c.copies[i].Of(x))
	}
	n, all := with.Dims()
	numbers := (all - 1) / len(c.weigh) // the last are ones
	for k, weigh := range c.weigh {
		if err := weigh(s, x, c.again, with.Slice(0, n, k*numbers, (k+1)*numbers).(*mat.Dense)); err != nil {
			return err
		}
		out := c.out[k]
		out.total += kernel.Dot(s[0], p.w[:p.n]) // which are 1
		if err := c.products(out, x, s[0], design.Dense{Dense: ones}); err != nil {
			return err
		}
		if len(c.copies) > 0 {
			if err := c.further(out, x, s); err != nil {
				return err
			}
		}
	}
	p.n = 0
	return nil
}

// further adds to out the sums that the copies of columns x have, s being the products of the rows' factors.
func (c *ScatterChunk) further(out *Scatter, x []design.Columns, s [][]float64) error {
	for i, v := range s {
		out.totals[i] += kernel.Dot(v, c.panel.w[:c.panel.n])
	}
	c.factors.Reset()
	c.factors.ReuseAs(c.panel.n, c.frame.Shape().factors())
	columns, factor := slices.Concat(x, c.again), make([]int, len(x))
	for _, copied := range c.copies {
		factor = append(factor, copied.Factor)
	}
	pair := func(a, b int) []float64 { return s[Pair(min(a, b), max(a, b))] }
	at, n := 0, c.frame.Shape().factors()
	for i, x := range columns {
		_, d := x.Dims()
		if i == 0 || factor[i] != factor[i-1] {
			for a := range n {
				c.factors.SetCol(a, pair(a, factor[i]))
			}
		}
		if err := c.work.AddCross(mat.NewDense(d, n, out.sums[at*n:(at+d)*n]), x, design.Dense{Dense: &c.factors}, nil); err != nil {
			return err
		}
		at += d
	}
	next := 0
	for k, b := range c.again {
		for i, a := range columns[:len(x)+k+1] {
			w := pair(factor[i], c.copies[k].Factor)
			first, second, turned := a, b, design.Swapped(a, b)
			if turned {
				first, second = b, a
			}
			if err := c.work.AddCross(matrix(out.again[next].general(turned)), first, second, w); err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

// products adds those of rows x with weights s to out.
func (c *ScatterChunk) products(out *Scatter, x []design.Columns, s []float64, ones design.Dense) error {
	place := func(u, v int) *oblong { return &out.cross[u*(2*len(x)-u-1)/2+v-u-1] }
	for u, a := range x {
		own := &out.own[u]
		own.widen(design.Bandwidth(a))
		if err := c.work.AddCross(matrix(own.general()), a, a, s); err != nil {
			return err
		}
		sum := out.sum[c.panel.off[u]:c.panel.off[u+1]]
		c.to, c.with = append(c.to[:0], mat.NewDense(len(sum), 1, sum)), append(c.with[:0], ones)
		for v := u + 1; v < len(x); v++ {
			if b := x[v]; together(a, b) {
				c.to, c.with = append(c.to, matrix(place(u, v).general(false))), append(c.with, b.(design.Dense))
			}
		}
		if err := c.work.AddCrosses(c.to, a, c.with, s); err != nil {
			return err
		}
	}
	for lo := 0; lo < len(x); lo += basesAtOnce { // as atOnce
		for v := lo + 1; v < len(x); v++ {
			for u := lo; u < min(v, lo+basesAtOnce); u++ {
				first, second := x[u], x[v]
				if together(first, second) {
					continue
				}
				turned := design.Swapped(first, second)
				to := matrix(place(u, v).general(turned))
				if turned {
					first, second = second, first
				}
				if err := c.work.AddCross(to, first, second, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// matrix is m as a Dense. A band's rows are nearer to each other than they are long.
func matrix(m blas64.General) *mat.Dense {
	var d mat.Dense
	d.SetRawMatrix(m)
	return &d
}
