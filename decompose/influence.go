package decompose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Other rows change not only the coefficients c of the projection, but also how hierarchical
// terms are split from their margins. Term j has the function x'T_j c, T_j the map of the split on these rows:
// the residual of a regression of a function h_j on the columns m_j of its margins (projection.Hierarchy). Let
// e_ij be its value in row i, r_i the remainder, A = X'WX + S, A_j = M_j'W M_j, and l_i, l_ij the leverages of
// row i in A and A_j, all columns centred. Without row i
//
//	c changes by    -A^-1 x_i t_i,        t_i  = w_i r_i/(1 - l_i)
//	g_j changes by  -A_j^-1 m_ij s_ij,    s_ij = w_i [e_ij - x_i'T_j(A^-1 x_i t_i + sum_k I_k A_k^-1 m_ik s_ik)]/(1 - l_ij)
//
// besides what the same split makes of c's change. g_j are the coefficients that j gives to its margins. Splits k come
// before j: terms of more features that have j among their margins. I_k maps the coefficients g_k to those of k's
// margins. The equations are exact for any S (the jackknife, of which HC3 is nearly that of c alone), and everything is
// linear in
//
//	v_i = [x_i t_i; m_i1 s_i1; m_i2 s_i2; ...],
//
// so the last pass adds up v_i v_i': X'DX with the weights t_i^2, t_i s_ij and s_ij s_ik, and the m_ij are columns of x_i
// (moments.Frame.Again). The sum of terms has the variance of L c + sum_j K_j g_j, L the map of the split and K_j
// the effect of a change of g_j (Predictor.spread). Clusters take sums of w_i r_i x_i and w_i e_ij m_ij.
//
// Unpenalised, with margins in the span of X, it is the sandwich of the regression on the margins alone.
//
// Where the split is smoothed (projection.Hierarchy), all of this is about the regression, e_ij too. The smoothed curve is
// the regression's less delta(x), what smoothing has taken, and its variance is
//
//	se(x)^2 = V(x) + delta(x)^2,
//
// as if the regression were right and delta the bias. Then the curve is about as likely to be held as the regression's, whatever
// decides how much is smoothed: a band of half width z se(x) misses the truth only if that of half width sqrt(z^2-1) V(x)^1/2
// about the regression misses it on delta's side, for z sqrt(V + delta^2) >= |delta| + sqrt(z^2-1) V^1/2. Where features are
// independent it is too wide; none that is narrower holds where they hardly depend on each other (Low 1997).

// splitOf is the split of one term from its margins.
type splitOf struct {
	term     int
	smoothed bool
	at       []int             // columns of the margins
	inverse  *mat.SymDense     // A_j^-1
	leverage *design.Quadratic // m'A_j^-1 m
	// moves are what the row's own changes do to the term in the row: those of c, x'T_j A^-1 x, and
	// of the splits before, x'T_j I_k A_k^-1 m_k; nil: nothing.
	moves  []*design.Quadratic
	linear []float64 // of a projection without an intercept, to be taken from moves[0]: m'T_j A^-1
}

// planSplits adds d's splits to its sandwich. The frame has all bases by now.
func (s *sandwichOf) planSplits(d *Predictor) error {
	if d.split == nil {
		return nil
	}
	split, err := d.split.get()
	if err != nil {
		return err
	}
	h := split.h
	for _, j := range split.order {
		s.frame.Again = append(s.frame.Again, h.Margins(j))
	}
	s.frame.About = d.mean
	if dense, ok := s.cov.(*mat.SymDense); ok {
		linalg.Mirror(dense)
	}
	inner := s.frame.LeftOf(d.mean)
	copies := s.frame.Copies()
	for n, j := range split.order {
		of := splitOf{term: j, at: h.MarginColumns(j), inverse: h.Inverse(j)}
		_, of.smoothed = h.Smoothed(j)
		of.inverse.ScaleSym(1/s.sumW, of.inverse)
		var dims []int
		var left []float64
		for _, c := range copies {
			if c.Factor == n+1 {
				dims = append(dims, len(c.At))
				for _, a := range c.At {
					left = append(left, inner[a])
				}
			}
		}
		if of.leverage, err = design.NewQuadratic(dims, of.inverse, left); err != nil {
			return fmt.Errorf("decompose: predictor %q: %w", d.Name, err)
		}
		own := rowsOfTerm(h, split.m, j)
		product := own.times(s.cov)
		product.Scale(1/s.phi, product)
		if !d.hasIntercept() {
			of.linear = make([]float64, len(d.mean))
			for i, a := range own.at {
				floats.AddScaled(of.linear, d.mean[a], product.RawRowView(i))
			}
		}
		form, err := s.formOf(own.at, product, s.frame.Left())
		if err != nil {
			return err
		}
		of.moves = append(of.moves, form)
		for k, before := range s.splits {
			given := rowsOfTerm(h, split.giving()[k], j)
			var product mat.Dense
			product.Mul(given.coef, before.inverse)
			if mat.Norm(&product, 1) == 0 {
				of.moves = append(of.moves, nil)
				continue
			}
			whole := mat.NewDense(len(given.at), len(d.mean), nil)
			for i := range given.at {
				for l, a := range before.at {
					whole.Set(i, a, product.At(i, l))
				}
			}
			form, err := s.formOf(given.at, whole, inner)
			if err != nil {
				return err
			}
			of.moves = append(of.moves, form)
		}
		s.splits, s.variances = append(s.splits, of), append(s.variances, d.Terms[j].After.Variance)
	}
	for _, network := range d.networks() {
		var pieces [][]piece
		for _, j := range split.order {
			if s.splits[len(pieces)].smoothed {
				pieces = append(pieces, network.regressed(h, j, d.mean))
			} else {
				pieces = append(pieces, network.pieces([]int{j}))
			}
		}
		s.pieces = append(s.pieces, pieces)
	}
	return nil
}

// smoothed says how the split of a term is smoothed; nil: it is the regression.
func (h *Hierarchy) smoothed(term string) *Smoothed {
	if i := slices.IndexFunc(h.Smoothed, func(m Smoothed) bool { return m.Term == term }); i >= 0 {
		return &h.Smoothed[i]
	}
	return nil
}

// regressed are the pieces of term j as the regression on its margins leaves it, without smoothing: the e_ij above.
func (d *Predictor) regressed(h *projection.Hierarchy, j int, mean []float64) (pieces []piece) {
	coef := h.Coefficients(h.Regression(d.after()), j)
	lo := 0
	for i := range d.Terms {
		hi := lo + len(d.Terms[i].Alpha)
		if own := coef[lo:hi]; anyNonZero(own) {
			pieces = append(pieces, piece{term: i, before: make([]float64, hi-lo), moved: own, centre: floats.Dot(own, mean[lo:hi])})
		}
		lo = hi
	}
	return pieces
}

// formOf is the quadratic form (x - c)'Q(x - c) whose matrix has the rows at, others being 0.
func (s *sandwichOf) formOf(at []int, rows *mat.Dense, c []float64) (*design.Quadratic, error) {
	sym := mat.NewSymDense(len(s.centre), nil)
	for i, a := range at {
		for b, v := range rows.RawRowView(i) {
			if a == b {
				v *= 2
			}
			sym.SetSym(a, b, sym.At(a, b)+v/2)
		}
	}
	return design.NewQuadraticIn(s.frame.Joined(), sym, c)
}

// termRows are the coefficients of a term by those of a split, where they are not 0.
type termRows struct {
	at   []int
	coef *mat.Dense
}

func rowsOfTerm(h *projection.Hierarchy, split *projection.Split, j int) termRows {
	all := h.Term(split, j)
	_, n := all.Dims()
	var t termRows
	var rows []float64
	q, _ := all.Dims()
	for a := range q {
		if row := all.RawRowView(a); anyNonZero(row) {
			t.at, rows = append(t.at, a), append(rows, row...)
		}
	}
	if len(t.at) == 0 {
		t.at, rows = []int{0}, make([]float64, n)
	}
	t.coef = mat.NewDense(len(t.at), n, rows)
	return t
}

// times is the product with v, of the columns that are not 0.
func (t termRows) times(of mat.Symmetric) *mat.Dense {
	v, ok := of.(*mat.SymDense)
	if !ok {
		return linalg.RowsTimes(t.coef, of)
	}
	rows, q := t.coef.Dims()
	out := mat.NewDense(rows, q, nil)
	raw := v.RawSymmetric()
	for i := range rows {
		for a, c := range t.coef.RawRowView(i) {
			if c != 0 { // both triangles of v are there (planSplits)
				floats.AddScaled(out.RawRowView(i), c, raw.Data[a*raw.Stride:][:q])
			}
		}
	}
	return out
}

// influenceWork is the memory of a worker for a predictor's splits.
type influenceWork struct {
	leverage []*design.QuadraticWork
	moves    [][]*design.QuadraticWork
	l        [][]float64   // l_ij/w_i but for the intercept, by split
	q        [][][]float64 // by split and what moves
	values   []float64
	y        []float64 // of a row: t_i, s_i1, ..., times the root of the unit
}

func newInfluenceWork(splits []splitOf) *influenceWork {
	w := &influenceWork{y: make([]float64, 1+len(splits))}
	for _, s := range splits {
		w.leverage = append(w.leverage, s.leverage.Work())
		var moves []*design.QuadraticWork
		for _, f := range s.moves {
			var work *design.QuadraticWork
			if f != nil {
				work = f.Work()
			}
			moves = append(moves, work)
		}
		w.moves, w.l, w.q = append(w.moves, moves), append(w.l, nil), append(w.q, make([][]float64, len(moves)))
	}
	return w
}

// rows finds the forms of n rows with joined columns x; again are the frame's copies.
func (w *influenceWork) rows(of *sandwichOf, n int, x, again []design.Columns) error {
	copies := of.frame.Copies()
	for j := range of.splits {
		var own []design.Columns
		for i, c := range copies {
			if c.Factor == j+1 {
				own = append(own, again[i])
			}
		}
		w.l[j] = sized(w.l[j], n)
		if err := w.leverage[j].Rows(w.l[j], own); err != nil {
			return err
		}
		for k, form := range w.moves[j] {
			if form == nil {
				continue
			}
			w.q[j][k] = sized(w.q[j][k], n)
			if err := form.Rows(w.q[j][k], x); err != nil {
				return err
			}
		}
		if of.splits[j].linear == nil {
			continue
		}
		w.values = sized(w.values, n)
		at := 0
		for _, c := range x {
			_, d := c.Dims()
			if err := design.MulVec(w.values, c, of.splits[j].linear[at:at+d]); err != nil {
				return err
			}
			floats.Sub(w.q[j][0], w.values)
			at += d
		}
	}
	return nil
}

// row sets y to the influence's factors in row i of weight wi, given the first; e are the terms' values.
func (w *influenceWork) row(of *sandwichOf, i int, wi float64, first float64, e []float64) {
	root := math.Sqrt(of.unit)
	w.y[0] = first
	for j := range of.splits {
		v := root * e[j]
		for k, q := range w.q[j] {
			if q != nil && w.moves[j][k] != nil {
				v -= q[i] * w.y[k]
			}
		}
		left := 1 - wi*(1/of.sumW+w.l[j][i])
		y := 0.0
		if left > 1e-9 {
			y = wi * v / left
		}
		if 1-left > highLeverage { // its value tells nothing: as large at least as the term's is
			y = math.Copysign(max(math.Abs(y), math.Sqrt(wi*of.unit*of.variances[j])), y)
		}
		w.y[1+j] = y
	}
}

// splitCovariance is the addition to a robustCovariance for estimating the splits: of the coefficients that
// all terms give to margins, by split and column of the margins (m numbers).
type splitCovariance struct {
	with      *mat.Dense    // p x m: with the coefficients, apart from what these give
	own       *mat.SymDense // m x m
	intercept []float64     // m

	stable *splitCovariance // how far other rows move smoothed splits (tellStable), which verdicts go by; nil: as this one
}

// splitCovariance makes it of the sums over rows of t x u', u u' and t u, u being all m_ij s_ij.
func (s *sandwichOf) splitCovariance(xu *mat.Dense, uu *mat.SymDense, u []float64) *splitCovariance {
	m := len(u)
	inverse := mat.NewDense(m, m, nil)
	at := 0
	for _, of := range s.splits {
		n := len(of.at)
		inverse.Slice(at, at+n, at, at+n).(*mat.Dense).Copy(of.inverse)
		at += n
	}
	right, half, own := linalg.Times(xu, inverse), linalg.Times(inverse, uu), new(mat.Dense)
	own.Mul(half, inverse)
	out := &splitCovariance{with: linalg.TimesOf(s.cov, right), own: mat.NewSymDense(m, nil), intercept: make([]float64, m)}
	out.with.Scale(1/s.phi, out.with)
	for i := range m {
		for j := i; j < m; j++ {
			out.own.SetSym(i, j, (own.At(i, j)+own.At(j, i))/2)
		}
	}
	mat.NewVecDense(m, out.intercept).MulVec(inverse, mat.NewVecDense(m, u))
	floats.Scale(1/s.sumW, out.intercept)
	return out
}

// byMeans is robustCovariance.byMeans of the splits' part.
func (c *splitCovariance) byMeans(mean []float64) {
	mat.NewVecDense(len(c.intercept), c.intercept).MulVec(c.with.T(), mat.NewVecDense(len(mean), mean))
}

// placed adds to l the terms after a split; place gives the row of l for each column.
func (d *Predictor) placed(l *mat.Dense, h *projection.Hierarchy, split *projection.Split, terms []int, place map[int]int) {
	for _, j := range terms {
		lo := d.first(j)
		for i := range d.Terms[j].Alpha {
			floats.Add(l.RawRowView(place[lo+i]), split.Own.RawRowView(lo+i))
		}
		if split.Given[j] == nil {
			continue
		}
		if observed, _ := cells(d.Terms[j].term); observed > 0 { // what it gives it has in its own columns
			var given mat.Dense
			given.Mul(h.CellMeans(j), split.Given[j])
			for i := range d.Terms[j].Alpha {
				floats.Sub(l.RawRowView(place[lo+i]), given.RawRowView(i))
			}
			continue
		}
		for i, a := range h.MarginColumns(j) {
			floats.Sub(l.RawRowView(place[a]), split.Given[j].RawRowView(i))
		}
	}
}

// splitMap is L, the sum of terms, in the columns at of their pieces, by coefficients, with a linear map of the split.
func (d *Predictor) splitMap(split *splitting, of *projection.Split, terms, at []int) *mat.Dense {
	l := mat.NewDense(len(at), len(d.mean), nil)
	d.placed(l, split.h, of, terms, placesOf(at))
	return l
}

// givenMap is K, that sum by what is given to margins; nil: nothing is.
func (d *Predictor) givenMap(split *splitting, terms, at []int) *mat.Dense {
	columns := len(split.columns())
	if columns == 0 {
		return nil
	}
	place, k, lo := placesOf(at), mat.NewDense(len(at), columns, nil), 0
	for i, given := range split.giving() {
		hi := lo + len(split.h.MarginColumns(split.order[i]))
		d.placed(k.Slice(0, len(at), lo, hi).(*mat.Dense), split.h, given, terms, place)
		lo = hi
	}
	return k
}

func placesOf(at []int) map[int]int {
	place := make(map[int]int, len(at))
	for i, a := range at {
		place[a] = i
	}
	return place
}

// spread sets u's covariances to those of the sum of hierarchical terms, in the columns at of their
// pieces: of L c + sum_j K_j g_j, or L c alone where bands are given these rows.
func (d *Predictor) spread(u *uncertainty, c *robustCovariance, terms, at []int) error {
	split, err := d.split.get()
	if err != nil {
		return err
	}
	n, q := len(at), len(d.mean)
	of := split.m
	if c.splits == nil {
		of = split.own
	}
	l := d.splitMap(split, of, terms, at)
	whole := congruentTo(l, c.cov)
	u.intercept = make([]float64, n)
	mat.NewVecDense(n, u.intercept).MulVec(l, mat.NewVecDense(q, c.intercept))
	if c.splits != nil {
		k, m := d.givenMap(split, terms, at), len(c.splits.intercept)
		if columns := len(split.columns()); columns != m {
			return fmt.Errorf("decompose: predictor %q: robust bands are of splits of %d columns, the terms' have %d: the files do not belong together", d.Name, m, columns)
		}
		var lw, both, ko, own, intercept mat.Dense
		lw.Mul(l, c.splits.with)
		both.Mul(&lw, k.T())
		ko.Mul(k, c.splits.own)
		own.Mul(&ko, k.T())
		whole.Add(whole, &own)
		whole.Add(whole, &both)
		whole.Add(whole, both.T())
		intercept.Mul(k, mat.NewDense(m, 1, slices.Clone(c.splits.intercept)))
		for i := range n {
			u.intercept[i] += intercept.At(i, 0)
		}
	}
	cov := mat.NewSymDense(n, nil)
	u.cov = cov
	for i := range n {
		for k := i; k < n; k++ {
			cov.SetSym(i, k, (whole.At(i, k)+whole.At(k, i))/2)
		}
	}
	return nil
}

// residuals are, at n rows of parts from row i on, what is left of each network's deep part and the values of its
// terms that are split from margins, one list after the other and network after network, by predictor. Where rows
// are independent and nothing is split, several networks have one: the root of the mean of their squares, for with
// one A their sandwiches' mean has that in the place of r^2. In the memory of s.
func (s *splitter) residuals(parts *Parts, i, n int, out *Outputs, x []design.Columns) ([][][]float64, error) {
	plan := s.bands.plan
	if s.spread == nil {
		s.spread = make([][][]float64, len(plan.predictors))
	}
	for k, of := range plan.predictors {
		if of == nil {
			continue
		}
		each := 1 + len(of.splits)
		for len(s.spread[k]) < each*of.networks {
			s.spread[k] = append(s.spread[k], nil)
		}
		for l := range s.spread[k] {
			s.spread[k][l] = sized(s.spread[k][l], n)
		}
		if s.result.Networks == nil {
			copy(s.spread[k][0], parts.Predictors[k].Unstructured[i:i+n])
			for j, split := range of.splits {
				if split.smoothed {
					if err := s.sum(s.spread[k][1+j], of.pieces[0][j], k, x); err != nil {
						return nil, err
					}
					continue
				}
				for r := range n {
					s.spread[k][1+j][r] = parts.Predictors[k].Terms.At(i+r, split.term)
				}
			}
			continue
		}
		if err := s.residualsOf(k, of, n, out, x); err != nil {
			return nil, err
		}
	}
	return s.spread, nil
}

// series are how many lists residuals has of a predictor.
func (s *sandwichOf) series() int { return s.networks * (1 + len(s.splits)) }
