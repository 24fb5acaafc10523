package decompose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// With clusters the rows of one may depend on each other (Liang and Zeger 1986):
//
//	V = A^-1 [sum_g u_g u_g'] A^-1 G/(G-1) + phi A^-1 S A^-1,     u_g = X_g'W r_g
//
// in p + 1 numbers a cluster, network and predictor, wherever in the file its rows are, and as many as its margins have
// columns, and one, for each term that is split from them. Sums of chunks are added in the tree of internal/base/dyadic.

// maxClusterBytes bounds the sums of all clusters.
const maxClusterBytes = 1 << 30

// clusterSums holds u_g of each cluster, in the order of their first rows of weight.
type clusterSums struct {
	column string
	widths []int // numbers of a cluster by predictor: its columns and 1; 0: none
	width  int   // of all
	id     map[string]int
	names  []string
	sums   []float64 // width for each cluster
	owner  []int     // by number: the only cluster that has it; nobody or several
}

// Owners that are no cluster.
const (
	nobody  = -1
	several = -2
)

// width is how many numbers a cluster has of each network.
func (s *sandwichOf) width() int {
	w := len(s.centre) + 1
	for _, split := range s.splits {
		w += len(split.at) + 1
	}
	return w
}

func (p *sandwichPlan) clusterSums() *clusterSums {
	c := &clusterSums{column: p.cluster, id: map[string]int{}}
	for _, s := range p.predictors {
		w := 0
		if s != nil {
			w = s.networks * s.width()
		}
		c.widths = append(c.widths, w)
		c.width += w
	}
	c.owner = slices.Repeat([]int{nobody}, c.width)
	return c
}

// own notes that a cluster has numbers other than 0 from number at on.
func (c *clusterSums) own(id, at int, numbers []float64) {
	for j, v := range numbers {
		switch o := &c.owner[at+j]; {
		case v == 0 || *o == id:
		case *o == nobody:
			*o = id
		default:
			*o = several
		}
	}
}

// at is the number of a cluster, which is new if it was not there.
func (c *clusterSums) at(name string) (int, error) {
	if i, ok := c.id[name]; ok {
		return i, nil
	}
	if 8*c.width*(len(c.names)+1) > maxClusterBytes {
		return 0, fmt.Errorf("decompose: clusters %q: the sums of more than %d clusters with %d numbers each do not fit into %s: choose a coarser column or terms with fewer columns",
			c.column, len(c.names), c.width, Size(maxClusterBytes))
	}
	i := len(c.names)
	c.id[name] = i
	c.names = append(c.names, name)
	c.sums = append(c.sums, make([]float64, c.width)...)
	return i, nil
}

func (c *clusterSums) of(i int) []float64 { return c.sums[i*c.width:][:c.width] }

// merge adds the sums of the rows that follow.
func (c *clusterSums) merge(o *clusterSums) error {
	for i, name := range o.names {
		to, err := c.at(name)
		if err != nil {
			return err
		}
		kernel.Add(c.of(to), c.of(to), o.of(i))
	}
	for j, id := range o.owner {
		switch {
		case id == several || id >= 0 && c.owner[j] >= 0 && c.owner[j] != c.id[o.names[id]]:
			c.owner[j] = several
		case id >= 0 && c.owner[j] == nobody:
			c.owner[j] = c.id[o.names[id]]
		}
	}
	return nil
}

// maxFewClusters: with fewer bands tend to be too narrow (Cameron, Gelbach and Miller 2008).
const maxFewClusters = 20

// warnings are on what clusters cannot tell: how the few differ, and how the remainder moves a
// column that only one of them has.
func (c *clusterSums) warnings(r *Result) []string {
	var out []string
	if g := len(c.names); g < maxFewClusters {
		out = append(out, fmt.Sprintf("%d clusters of %q are few: bands tend to be too narrow below about %d", g, c.column, maxFewClusters))
	}
	next := 0
	for k := range r.Predictors {
		if c.widths[k] == 0 {
			continue
		}
		d, at := &r.Predictors[k], next
		next += c.widths[k]
		for j := range d.Terms {
			t := &d.Terms[j]
			lone := 0
			for _, o := range c.owner[at : at+len(t.Alpha)] {
				if o >= 0 {
					lone++
				}
			}
			if lone > 0 {
				out = append(out, fmt.Sprintf("%s: %d of %d columns of %s have all their rows in one cluster of %q each: their bands are too narrow, for nothing tells how clusters differ there", d.Name, lone, len(t.Alpha), t.Name, c.column))
			}
			at += len(t.Alpha)
		}
	}
	return out
}

// covariance of predictor k by the sums.
func (s *sandwichOf) clustered(c *clusterSums, k int, bias mat.Symmetric) *robustCovariance {
	p, g, width := len(s.centre), len(c.names), s.width()
	from, given := 0, 0
	for _, w := range c.widths[:k] {
		from += w
	}
	for _, split := range s.splits {
		given += len(split.at)
	}
	n := g * s.networks
	u, level, margins := mat.NewDense(n, p, nil), make([]float64, n), mat.NewDense(n, max(given, 1), nil) // in units of the root of s.unit
	unit := math.Sqrt(s.unit)
	for i := range n {
		sums := c.of(i / s.networks)[from+i%s.networks*width:][:width]
		level[i] = sums[p] * unit
		row := u.RawRowView(i)
		for j := range row {
			row[j] = (sums[j] - s.centre[j]*sums[p]) * unit
		}
		sums = sums[p+1:]
		row = margins.RawRowView(i)
		for _, split := range s.splits {
			m := len(split.at)
			for l, a := range split.at {
				row[l] = (sums[l] - s.frame.About[a]*sums[m]) * unit
			}
			row, sums = row[m:], sums[m+1:]
		}
	}
	factor := float64(g) / float64(g-1) / s.unit / float64(s.networks)
	out := &robustCovariance{cov: s.aroundRows(u, factor, bias), intercept: make([]float64, p)}
	var products mat.VecDense
	levels := mat.NewVecDense(n, level)
	products.MulVec(u.T(), levels)
	copy(out.intercept, linalg.MulVec(s.cov, products.RawVector().Data))
	floats.Scale(factor/(s.sumW*s.phi), out.intercept)
	out.variance = factor * mat.Dot(levels, levels) / (s.sumW * s.sumW)
	if given > 0 {
		var xu mat.Dense
		xu.Mul(u.T(), margins)
		xu.Scale(factor, &xu)
		uu, with := mat.NewSymDense(given, nil), mat.NewVecDense(given, nil)
		uu.SymOuterK(factor, margins.T())
		with.MulVec(margins.T(), levels)
		with.ScaleVec(factor, with)
		out.splits = s.splitCovariance(&xu, uu, with.RawVector().Data)
	}
	return out
}

// aroundRows is A^-1 u'u A^-1 times factor, and what smoothing adds (nil: nothing).
func (s *sandwichOf) aroundRows(u *mat.Dense, factor float64, bias mat.Symmetric) mat.Symmetric {
	g, p := u.Dims()
	if _, many := s.cov.(*linalg.Structured); !many {
		middle := mat.NewSymDense(p, nil)
		middle.SymOuterK(factor, u.T())
		return s.around(linalg.Shifted{M: middle}, bias)
	}
	moved := linalg.RowsTimes(u, s.cov)
	moved.Scale(math.Sqrt(factor)/s.phi, moved)
	if 2*g >= p { // its numbers are no more than those of two matrices of a row for each cluster
		v := mat.NewSymDense(p, nil)
		linalg.AddGram(v, moved)
		return linalg.Plus(v, bias)
	}
	half, n := new(mat.Dense), mat.DenseCopyOf(moved.T())
	half.Scale(0.5, n)
	return linalg.Plus(&linalg.Structured{D: make([]float64, p), U: half, N: n}, bias)
}

// clusterWorker forms the sums of one worker's chunks.
type clusterWorker struct {
	sums  *clusterSums
	work  design.Work
	codes design.Codes // of the rows at hand: clusters by order of appearance among them
	ids   []int        // their numbers in sums
	e     []float64
}

// begin finds the clusters of the rows of b; those of weight 0 have none.
func (w *clusterWorker) begin(b *data.Batch, weights []float64) error {
	names, err := groupNames(b, w.sums.column)
	if err != nil {
		return fmt.Errorf("clusters: %w", err)
	}
	here := map[string]int32{}
	w.ids, w.codes.Code = w.ids[:0], w.codes.Code[:0]
	for i, name := range names {
		if weight(weights, i) == 0 {
			w.codes.Code = append(w.codes.Code, -1)
			continue
		}
		code, ok := here[name]
		if !ok {
			id, err := w.sums.at(name)
			if err != nil {
				return err
			}
			code = int32(len(w.ids))
			here[name] = code
			w.ids = append(w.ids, id)
		}
		w.codes.Code = append(w.codes.Code, code)
	}
	w.codes.D = max(len(w.ids), 1)
	return nil
}

// add adds, for predictor k, whose terms have the columns x, X_g'W r and the sum of W r of each network, and for each
// split M_g'W e and the sum of W e.
func (w *clusterWorker) add(k int, s *sandwichOf, x []design.Columns, residuals [][]float64, weights []float64) error {
	at, each := 0, 1+len(s.splits)
	for _, n := range w.sums.widths[:k] {
		at += n
	}
	for l, r := range residuals {
		some := x
		if l%each > 0 {
			some = nil
			for _, b := range s.frame.Again[l%each-1] {
				some = append(some, x[b])
			}
		}
		w.e = w.e[:0]
		for i, v := range r {
			w.e = append(w.e, v*weight(weights, i))
		}
		if err := w.products(&at, some); err != nil {
			return err
		}
	}
	return nil
}

// products adds those of columns x with e, and the sum of e, from number at on.
func (w *clusterWorker) products(at *int, x []design.Columns) error {
	for _, c := range x {
		_, d := c.Dims()
		part := mat.NewDense(w.codes.D, d, nil)
		if err := w.work.AddCross(part, &w.codes, c, w.e); err != nil {
			return err
		}
		for code, id := range w.ids {
			to, row := w.sums.of(id)[*at:*at+d], part.RawRowView(code)
			kernel.Add(to, to, row)
			w.sums.own(id, *at, row)
		}
		*at += d
	}
	for i, code := range w.codes.Code {
		if code >= 0 {
			w.sums.of(w.ids[code])[*at] += w.e[i]
		}
	}
	*at++
	return nil
}
