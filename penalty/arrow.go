package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// minEliminated is the number of columns of a term from which on it is worth a look whether
// they can be eliminated first.
const minEliminated = 64

// eliminated are the columns of one term, or of neighbours, that make few products with each other, as the
// levels of a factor or the smooths of many levels do: sorted into groups, X'WX is zero
// between columns of different groups. Its penalties are diagonal. With the columns of
// all other terms last, A = X'WX + S is
//
//	[ A_f  B' ]    A_f = blockdiag(G_g + diag(root^2)), one block for each group g,
//	[ B    C  ]    C of the system left,
//
// so that everything follows from the small blocks of A_f and from the Schur complement
// T = C - B A_f^-1 B' (see schur.go). Products about means are not zero between levels:
// with M their weighted means they are -sumW M M'. So the columns are taken as they are,
// not centred, and the intercept is a column of its own among those left, which are
// centred. Eliminating it again gives products about means, so its own entry is all
// that the determinant has too much, and the inverse of the rest is that sought.
//
// Groups are found in the numbers, so that any package's term may have them; what is not clearly so
// stays with the matrix of all columns. Neighbours of the same groups go together, since a random
// slope left behind would be a dense problem of all levels; no others do, since sandwiches read the
// eliminated columns as one range.
type eliminated struct {
	terms   int       // how many neighbours they are of
	start   int       // first column of these in the problem
	column  []int     // of these, by position: groups are contiguous
	lo      []int     // first position of each group, and the end
	d       []float64 // by which columns are divided, by position, as all below
	gram    []float64 // G_g, one after the other, by rows: see at
	at      []int     // where that of each group begins
	mean    []float64 // sqrt(sumW) M/d
	border  []float64 // n x q by rows: B' in the coordinates of the system left
	cross   [][]float64
	size    []float64 // of S/d^2 on the column; 0: unpenalised
	owner   []int     // the penalty whose that is, among the system's; -1: none
	q       int       // coordinates left, with the intercept's
	columns []int     // of the problem, of the terms left
}

func (f *eliminated) n() int { return len(f.column) }

// has tells whether the columns of a term are eliminated.
func (f *eliminated) has(t Component) bool {
	return t.Dim > 0 && f.start <= t.Start && t.Start < f.start+f.n()
}

// group is the range of positions of group g.
func (f *eliminated) group(g int) (lo, hi int) { return f.lo[g], f.lo[g+1] }

// eliminate finds the term of most columns that can be eliminated, and takes its neighbours along where their columns
// are of the same groups, as those of random intercepts and slopes are; nil: there is none.
func (p *Problem) eliminate(live []bool, d, varies []float64) *eliminated {
	if p.Factor != nil || p.Intercept && p.XMean == nil {
		return nil
	}
	each := make([]*eliminated, len(p.Terms)) // not sorted; nil: a term that cannot be
	var best *eliminated
	first, next := 0, 0
	for i := range p.Terms {
		t := &p.Terms[i]
		own := live[next : next+len(t.S)]
		next += len(t.S)
		f := &eliminated{start: t.Start, terms: 1}
		if t.Dim < minEliminated || !f.penalties(t, d[t.Start:][:t.Dim], own) {
			continue
		}
		each[i] = f
		if best != nil && t.Dim <= best.n() {
			continue
		}
		if own := f.sorted(p, varies); own != nil {
			best, first = own, i
		}
	}
	if best == nil || best.owner[0] < 0 {
		return best
	}
	join := func(a, b int) bool { // terms a to b-1
		f := p.joined(each[a:b], a)
		if f != nil {
			f = f.sorted(p, varies)
		}
		if f != nil {
			best, first = f, a
		}
		return f != nil
	}
	for first+best.terms < len(each) && join(first, first+best.terms+1) {
	}
	for first > 0 && join(first-1, first+best.terms) {
	}
	return best
}

// joined are neighbours, from term first on, in one; nil: one of them cannot be eliminated, has free columns, or
// does not follow the one before.
func (p *Problem) joined(each []*eliminated, first int) *eliminated {
	var out *eliminated
	penalties := 0
	for i, f := range each {
		switch {
		case f == nil || f.owner[0] < 0:
			return nil
		case out == nil:
			out = &eliminated{start: f.start}
		case f.start != out.start+len(out.size):
			return nil
		}
		for _, j := range f.owner {
			out.owner = append(out.owner, penalties+j)
		}
		out.d, out.size = append(out.d, f.d...), append(out.size, f.size...)
		out.terms++
		penalties += len(p.Terms[first+i].S)
	}
	return out
}

// penalties sets size and owner, by column yet, the latter among the term's penalties.
// false: they are not diagonal, not of different columns each, or leave some columns of
// the term free and others not.
func (f *eliminated) penalties(t *Component, d []float64, live []bool) bool {
	f.d, f.size, f.owner = d, make([]float64, t.Dim), make([]int, t.Dim)
	for i := range f.owner {
		f.owner[i] = -1
	}
	total, norms := make([]float64, t.Dim), 0.0
	for j := range t.S {
		if !live[j] {
			continue
		}
		diag, ok := diagonalOf(t.S[j])
		if !ok {
			return false
		}
		norm := 0.0
		for i, v := range diag {
			norm = math.Hypot(norm, v/(d[i]*d[i]))
		}
		for i, v := range diag {
			v /= d[i] * d[i]
			switch {
			case v == 0:
				continue
			case v < 0 || f.owner[i] >= 0:
				return false
			}
			f.size[i], f.owner[i], total[i] = v, j, v/norm
			norms = math.Max(norms, total[i])
		}
	}
	free := 0
	for _, v := range total {
		switch {
		case v == 0:
			free++
		case !(v > spectrumTolerance*norms):
			return false
		}
	}
	return free == 0 || free == t.Dim
}

// sorted finds the groups of the columns, sorts them, and sets products and means. nil: a group is a large part of
// them, or a column without penalty does not vary.
func (f *eliminated) sorted(p *Problem, varies []float64) *eliminated {
	const rounding = 1e-12 // relative to the lengths of two columns, of their product
	n := len(f.size)
	mean := make([]float64, n)
	for i := range n {
		if p.Intercept {
			mean[i] = math.Sqrt(p.SumW) * p.XMean[f.start+i] * varies[f.start+i]
		}
	}
	if many, ok := p.XX.(*linalg.Structured); ok {
		return f.apart(many, mean, varies)
	}
	raw := p.dense().RawSymmetric()
	product := func(i, j int) float64 { // about 0
		a, b := f.start+min(i, j), f.start+max(i, j)
		return varies[a]*varies[b]*raw.Data[a*raw.Stride+b] + mean[i]*mean[j]
	}
	length := make([]float64, n)
	for i := range n {
		v := product(i, i)
		if v < 0 || v == 0 && f.owner[i] < 0 {
			return nil
		}
		length[i] = math.Sqrt(v)
	}
	groups := newPartition(n)
	for i := range n {
		row := raw.Data[(f.start+i)*raw.Stride+f.start:][:n]
		vi, mi, li := varies[f.start+i], mean[i], rounding*length[i]
		for j := i + 1; j < n; j++ {
			if v := vi*varies[f.start+j]*row[j] + mi*mean[j]; v > li*length[j] || v < -li*length[j] {
				groups.join(i, j)
			}
		}
	}
	out := &eliminated{start: f.start, terms: f.terms}
	out.column, out.lo = groups.sorted()
	for g := range len(out.lo) - 1 {
		if lo, hi := out.group(g); 4*(hi-lo) > n {
			return nil
		}
	}
	out.d, out.size, out.owner = permuted(f.d, out.column), permuted(f.size, out.column), permuted(f.owner, out.column)
	out.mean = permuted(mean, out.column)
	for i := range out.mean {
		out.mean[i] /= out.d[i]
	}
	for g := range len(out.lo) - 1 {
		lo, hi := out.group(g)
		out.at = append(out.at, len(out.gram))
		for i := lo; i < hi; i++ {
			for j := lo; j < hi; j++ {
				out.gram = append(out.gram, product(out.column[i], out.column[j])/(out.d[i]*out.d[j]))
			}
		}
	}
	return out
}

// apart is sorted of columns that many tells to have no products with each other: each is a group.
func (f *eliminated) apart(many *linalg.Structured, mean, varies []float64) *eliminated {
	n := len(f.size)
	if at, few := slices.BinarySearch(many.Few, f.start); few || at < len(many.Few) && many.Few[at] < f.start+n {
		return nil
	}
	for _, d := range many.D[f.start : f.start+n] {
		if d < 0 || d == 0 && f.owner[0] < 0 {
			return nil
		}
	}
	out := &eliminated{start: f.start, terms: f.terms, column: sequence(n), lo: sequence(n + 1), at: sequence(n), d: f.d, size: f.size, owner: f.owner, mean: mean}
	for i, d := range many.D[f.start : f.start+n] {
		out.mean[i] /= out.d[i]
		out.gram = append(out.gram, varies[f.start+i]*d/(out.d[i]*out.d[i]))
	}
	return out
}

// permuted is x in this order.
func permuted[T any](x []T, order []int) []T {
	y := make([]T, len(order))
	for i, j := range order {
		y[i] = x[j]
	}
	return y
}

// partition is disjoint sets of 0..n-1.
type partition []int // the parent of each: its set's first member in the end

func newPartition(n int) partition { return sequence(n) }

func (p partition) first(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p partition) join(i, j int) {
	a, b := p.first(i), p.first(j)
	p[max(a, b)] = min(a, b)
}

// sorted lists the sets by their first members, each in order, and where they begin.
func (p partition) sorted() (order, lo []int) {
	members := make(map[int][]int)
	for i := range p {
		members[p.first(i)] = append(members[p.first(i)], i)
	}
	for i := range p {
		if own := members[i]; own != nil {
			lo, order = append(lo, len(order)), append(order, own...)
		}
	}
	return order, append(lo, len(order))
}

// without is p but for the eliminated columns, and which of its penalties take part.
func (p *Problem) without(f *eliminated, live []bool) (*Problem, []bool) {
	o := &Problem{Rows: p.Rows, SumW: p.SumW, SumLogW: p.SumLogW, Intercept: p.Intercept, ZZ: p.ZZ, ZMean: p.ZMean, Independent: p.Independent}
	var alive []bool
	next := 0
	for _, t := range p.Terms {
		if f.has(t) {
			next += len(t.S)
			continue
		}
		for i := range t.Dim {
			f.columns = append(f.columns, t.Start+i)
		}
		t.Start = len(f.columns) - t.Dim
		o.Terms, alive = append(o.Terms, t), append(alive, live[next:next+len(t.S)]...)
		next += len(t.S)
	}
	o.XZ = permuted(p.XZ, f.columns)
	if p.XMean != nil {
		o.XMean = permuted(p.XMean, f.columns)
	}
	for _, r := range p.Others {
		r.XZ = permuted(r.XZ, f.columns)
		o.Others = append(o.Others, r)
	}
	if n := len(f.columns); n > 0 {
		xx := mat.NewSymDense(n, nil)
		for a, i := range f.columns {
			for b, j := range f.columns[a:] {
				xx.SetSym(a, a+b, p.XX.At(i, j))
			}
		}
		o.XX = xx
	}
	return o, alive
}
