package moments

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// View is one predictor's part of a Moments: the q columns of its bases and its
// own response z, to be read: XX may be part of the Moments. The intercept is not among
// the columns; means and SumW carry it.
type View struct {
	Bases  []int // the predictor's bases, as in the layout
	Starts []int // first of the q columns of each of them, then q

	Rows, Positive int64
	SumW, SumLogW  float64

	// R is the upper triangular factor of the centred [X z] ((q+1) x (q+1)), of
	// which XX, XR and RR are the products, if the layout asks for factors; else nil.
	R *mat.TriDense

	XX         *mat.SymDense // q x q, centred
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

// unit is the mixture that is response k alone.
func (m *Moments) unit(k int) []float64 {
	mix := make([]float64, len(m.MeanR))
	mix[k] = 1
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
	m = m.filled()
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
	v.XX = partOf(m.XX, at)
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
func (v View) Products(bases ...int) *mat.SymDense { return partOf(v.XX, v.columns(bases)) }

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
func (v View) Raw() (xx *mat.SymDense, xr []float64, rr float64) {
	q := len(v.Mean)
	xx, xr = symmetric(q), make([]float64, q)
	for i, mi := range v.Mean {
		for j := i; j < q; j++ {
			xx.SetSym(i, j, v.XX.At(i, j)+v.SumW*mi*v.Mean[j])
		}
		xr[i] = v.XR[i] + v.SumW*mi*v.MeanR
	}
	return xx, xr, v.RR + v.SumW*v.MeanR*v.MeanR
}
