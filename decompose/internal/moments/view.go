package moments

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// View is one predictor's part of a Moments: the q columns of its bases and its
// own response z, zeros for a predictor beyond the responses, to be read: XX may be part of the Moments. The intercept is not among
// the columns; means and SumW carry it.
type View struct {
	Bases  []int // the predictor's bases, as in the layout
	Starts []int // first of the q columns of each of them, then q

	Rows, Positive int64
	SumW, SumLogW  float64

	// R is the upper triangular factor of the centred [X z] ((q+1) x (q+1)), of
	// which XX, XR and RR are the products, if the layout asks for factors; else nil.
	R *mat.TriDense

	XX         mat.Symmetric // q x q, centred: a *mat.SymDense or, of many levels, a *linalg.Structured
	XR         []float64     // q: centred X'Wz
	RR         float64       // centred z'Wz
	Mean       []float64     // q: weighted column means
	MeanR      float64       // weighted mean of z
	Sum        []float64     // q: unweighted column sums
	MaxRowNorm []float64     // per basis
}

// Predictor returns predictor k's view; for a k that the layout does not have,
// the zero View.
func (m *Moments) Predictor(k int) View {
	if k < 0 || k >= len(m.Layout.Predictors) {
		return View{}
	}
	return m.view(k, m.unit(k))
}

// Mixture is predictor k's view with the response sum_l mix_l z_l in place of its own:
// mix has a number for each of the layout's responses. The rows must have been
// accumulated with all of k's bases for those that count, as predictors of equal bases
// are; for a k that the layout does not have, the zero View.
func (m *Moments) Mixture(k int, mix []float64) View {
	if k < 0 || k >= len(m.Layout.Predictors) || len(mix) != len(m.MeanR) {
		return View{}
	}
	return m.view(k, mix)
}

// unit is the mixture that is response k alone, or none.
func (m *Moments) unit(k int) []float64 {
	mix := make([]float64, len(m.MeanR))
	if k < len(mix) {
		mix[k] = 1
	}
	return mix
}

func (m *Moments) view(k int, mix []float64) View {
	v := View{
		Bases: slices.Clone(m.Layout.Predictors[k]), Starts: []int{0},
		Rows: m.Rows, Positive: m.Positive, SumW: m.SumW, SumLogW: m.SumLogW,
	}
	for l, c := range mix {
		if c != 0 {
			v.MeanR += c * m.MeanR[l]
		}
	}
	off := m.Layout.offsets()
	var at []int // the view's columns among the p
	for _, b := range v.Bases {
		for j := off[b]; j < off[b+1]; j++ {
			at = append(at, j)
		}
		v.Starts = append(v.Starts, len(at))
		v.MaxRowNorm = append(v.MaxRowNorm, m.MaxRowNorm[b])
	}
	q := len(at)
	v.XR = make([]float64, q)
	v.Mean, v.Sum = make([]float64, q), make([]float64, q)
	for i, a := range at {
		v.Mean[i], v.Sum[i] = m.Mean[a], m.Sum[a]
	}
	if m.R != nil {
		v.XX = symmetric(q)
		v.factor(m, at, mix)
		return v
	}
	if many := m.structured(&v, at); many != nil {
		v.XX = many
	} else {
		v.XX = partOf(m.filled().XX, at)
	}
	for l, c := range mix {
		for o, d := range mix {
			if c != 0 && d != 0 {
				v.RR += c * d * m.RR.At(l, o)
			}
		}
	}
	v.RR = max(v.RR, 0) // responses that cancel leave rounding
	for i, a := range at {
		for l, c := range mix {
			if c != 0 {
				v.XR[i] += c * m.XR.At(a, l)
			}
		}
	}
	return v
}

// partOf are some rows and columns (increasing or not) of xx: in its memory where they are neighbours.
func partOf(xx *mat.SymDense, at []int) *mat.SymDense {
	q, neighbours := len(at), true
	for i, a := range at {
		neighbours = neighbours && a == at[0]+i
	}
	if q > 0 && neighbours {
		return xx.SliceSym(at[0], at[0]+q).(*mat.SymDense)
	}
	part := symmetric(q)
	for i, a := range at {
		for j := i; j < q; j++ {
			part.SetSym(i, j, xx.At(a, at[j]))
		}
	}
	return part
}

// Products are the centred products of the columns of some of the view's bases (their places
// among Bases), one after the other: part of XX where they are neighbours.
func (v View) Products(bases ...int) mat.Symmetric {
	if own, ok := v.XX.(*mat.SymDense); ok {
		return partOf(own, v.columns(bases))
	}
	return linalg.Part(v.XX, v.columns(bases))
}

// columns are the places of those of some bases among the view's.
func (v View) columns(bases []int) (at []int) {
	for _, b := range bases {
		for j := v.Starts[b]; j < v.Starts[b+1]; j++ {
			at = append(at, j)
		}
	}
	return at
}

// Raw returns the uncentred products X'WX (q x q), X'Wz (q) and z'Wz, for
// models without an intercept: centred products plus SumW times the products of
// the means.
func (v View) Raw() (xx mat.Symmetric, xr []float64, rr float64) {
	q := len(v.Mean)
	if many, ok := v.XX.(*linalg.Structured); ok {
		return v.rawOfMany(many), v.rawCross(), v.RR + v.SumW*v.MeanR*v.MeanR
	}
	whole, centred := symmetric(q), symmetric(q)
	if v.XX != nil {
		centred = linalg.Dense(v.XX)
	}
	for i, mi := range v.Mean {
		for j := i; j < q; j++ {
			whole.SetSym(i, j, centred.At(i, j)+v.SumW*mi*v.Mean[j])
		}
	}
	return whole, v.rawCross(), v.RR + v.SumW*v.MeanR*v.MeanR
}

// rawCross are the uncentred products X'Wz.
func (v View) rawCross() []float64 {
	xr := make([]float64, len(v.Mean))
	for i, mi := range v.Mean {
		xr[i] = v.XR[i] + v.SumW*mi*v.MeanR
	}
	return xr
}

// rawOfMany are the uncentred products X'WX: those of levels are a diagonal.
func (v View) rawOfMany(many *linalg.Structured) *linalg.Structured {
	out := &linalg.Structured{D: slices.Clone(many.D), Few: many.Few}
	if many.V == nil {
		return out
	}
	out.V = mat.DenseCopyOf(many.V)
	for i, mi := range v.Mean {
		share := v.SumW * mi
		if _, few := slices.BinarySearch(many.Few, i); few {
			share /= 2 // which V has twice
		}
		row := out.V.RawRowView(i)
		for l, j := range many.Few {
			row[l] += share * v.Mean[j]
		}
	}
	return out
}

// manyLevels is from how many columns on a basis whose columns no row has two of is kept apart from few others.
const manyLevels = 500

// Structured tells whether the products of d columns of a basis, of which no row has two, and of others, p in all, are held as a
// linalg.Structured (View.XX).
func Structured(d, p int) bool { return d >= manyLevels && 5*d >= 4*p }

// manyLevels tells whether some basis is such.
func (m *Moments) manyLevels() bool {
	if m.held == nil {
		return false
	}
	for b, w := range m.held.width {
		if w == 1 && m.Layout.Bases[b].Dim >= manyLevels {
			return true
		}
	}
	return false
}

// structured are the products of v, the columns at (increasing) of m, where one basis has most of them and no row has two of its
// columns: their products about 0 are a diagonal, about the means m_i that less W m_i m_j. nil: they are others.
func (m *Moments) structured(v *View, at []int) *linalg.Structured {
	g, chosen := m.held, -1
	if g == nil || !slices.IsSorted(at) {
		return nil
	}
	for l, b := range v.Bases {
		d := v.Starts[l+1] - v.Starts[l]
		if g.width[b] == 1 && Structured(d, len(at)) {
			chosen = l
		}
	}
	if chosen < 0 {
		return nil
	}
	q, lo, hi := len(at), v.Starts[chosen], v.Starts[chosen+1]
	s := &linalg.Structured{D: make([]float64, q), U: mat.NewDense(q, 1, nil), N: mat.NewDense(q, 1, nil)}
	for i := range q {
		if i < lo || i >= hi {
			s.Few = append(s.Few, i)
		}
	}
	for i := lo; i < hi; i++ {
		s.D[i] = g.own(at[i])[0] + m.SumW*v.Mean[i]*v.Mean[i]
		s.U.Set(i, 0, -m.SumW/2*v.Mean[i])
		s.N.Set(i, 0, v.Mean[i])
	}
	if len(s.Few) == 0 {
		return s
	}
	s.V = mat.NewDense(q, len(s.Few), nil)
	for l, j := range s.Few {
		if j >= hi { // rows of earlier columns have these
			break
		}
		setColumn(s.V, lo, l, g.rest(at[j], at[lo], at[lo]+hi-lo))
	}
	behind, first := s.Few[min(lo, len(s.Few)):], min(lo, len(s.Few))
	for i := lo; i < hi && len(behind) > 0; i++ {
		row := s.V.RawRowView(i)[first:]
		for l, j := range behind {
			row[l] = g.rest(at[i], at[j], at[j]+1)[0]
		}
	}
	for l, j := range s.Few {
		own, rest := m.row(at[j], g.next[at[j]])
		for k := l; k < len(s.Few); k++ {
			c, x := at[s.Few[k]], 0.0
			switch d := c - at[j]; {
			case d < len(own):
				x = own[d]
			case c < g.next[at[j]]:
				x = 0 - m.SumW*m.Mean[at[j]]*m.Mean[c]
			default:
				x = rest[c-g.next[at[j]]]
			}
			s.V.Set(s.Few[k], l, x/2)
			s.V.Set(j, k, x/2)
		}
	}
	return s
}

// setColumn writes values to column l of dst from row lo on.
func setColumn(dst *mat.Dense, lo, l int, values []float64) {
	raw := dst.RawMatrix()
	for i, v := range values {
		raw.Data[(lo+i)*raw.Stride+l] = v
	}
}
