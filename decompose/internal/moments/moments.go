package moments

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Moments are the sums over a set of rows that a decomposition needs: p raw
// columns of all bases in order, R responses, weights w.
//
// Cross products are centred at the weighted means: with raw X'WX a column such
// as a year (mean 1e3 times its standard deviation) would lose six of the
// sixteen digits that decisions about rank rely on. Centred sums over two sets
// of rows are combined by the pairwise update of Chan, Golub and LeVeque (1983),
// The American Statistician 37, 242-247.
type Moments struct {
	Layout   Layout
	Rows     int64   // rows, those of weight 0 included
	Positive int64   // rows with w > 0
	SumW     float64 // sum of w
	SumLogW  float64 // sum of log w over rows with w > 0

	Sum        []float64 // p: unweighted column sums over all rows
	MaxRowNorm []float64 // per basis: max over all rows of sum_j |x_ij|
	Mean       []float64 // p: weighted column means; 0 if SumW is 0, and of bases in no predictor
	MeanR      []float64 // R: weighted response means; 0 if SumW is 0

	XX *mat.SymDense // p x p: sum w (x - mean)(x - mean)'; 0 where two bases never meet
	XR *mat.Dense    // p x R: sum w (x - mean)(r - mean)'; 0 of bases in no predictor
	RR *mat.SymDense // R x R: sum w (r - mean)(r - mean)'

	// R takes the place of XX, XR and RR, which are empty, if Layout.Factor is set:
	// R'R is the sum of w (x - mean, r - mean)(x - mean, r - mean)' over the c
	// columns of bases in any predictor, in order, and the responses. It is upper
	// triangular, (c+R) x (c+R); nil without Factor.
	R *mat.TriDense

	// What rounding left of the means: mean = Mean + low. With a mean 1e6 times
	// the standard deviation, differences of rounded means would be good to
	// 1e-10 only, and so would merged products.
	low, lowR []float64

	pairs []pair  // the bases that meet
	held  *packed // the products in place of XX, which is empty; nil: XX has them
	over  bool    // merge may write products over those that are merged, and not over its own
}

// New returns the moments of no rows. Matrices with a dimension of 0 are the
// empty matrix. The layout must pass Check; of another one the sums are empty.
func New(l Layout) *Moments {
	l = l.clone()
	m := blank(l, l.meeting())
	m.zero()
	return m
}

// zero gives m room for all products.
func (m *Moments) zero() {
	if m.held = nil; m.R == nil {
		m.XX = symmetric(len(m.Mean))
	}
}

// blank are the moments of no rows but for XX, which is empty.
func blank(l Layout, pairs []pair) *Moments {
	p, r := l.Columns(), l.Responses
	if l.Check() != nil {
		p, r = 0, 0
	}
	m := &Moments{
		Layout:     l,
		Sum:        make([]float64, p),
		MaxRowNorm: make([]float64, len(l.Bases)),
		Mean:       make([]float64, p),
		MeanR:      make([]float64, r),
		low:        make([]float64, p),
		lowR:       make([]float64, r),
		XX:         unpacked(),
		XR:         &mat.Dense{},
		RR:         &mat.SymDense{},
		pairs:      pairs,
	}
	if l.Factor {
		m.R, m.pairs = triangle(len(l.factored())+r), nil
		return m
	}
	m.XR, m.RR = rectangle(p, r), symmetric(r)
	return m
}

// reset makes m the moments of no rows again.
func (m *Moments) reset() {
	m.Rows, m.Positive, m.SumW, m.SumLogW = 0, 0, 0, 0
	for _, v := range [][]float64{m.Sum, m.MaxRowNorm, m.Mean, m.MeanR, m.low, m.lowR} {
		clear(v)
	}
	m.XR.Zero()
	m.RR.Zero()
	m.zero()
	if m.R != nil {
		m.R.Zero()
	}
}

func symmetric(n int) *mat.SymDense {
	if n == 0 {
		return &mat.SymDense{}
	}
	return linalg.Triangle(n)
}

func rectangle(r, c int) *mat.Dense {
	if r == 0 || c == 0 {
		return &mat.Dense{}
	}
	return mat.NewDense(r, c, kernel.Zeros[float64](r*c))
}

// Merge adds the rows of next, which follow those of m. The layouts must be
// equal. A side without rows or without weight adds nothing to means and
// products, to the last bit. next is not changed, but may not be m itself. A
// result beyond the range of float64 is an error that names the basis or
// response; m is undefined then.
func (m *Moments) Merge(next *Moments) error {
	err := m.mergePacked(next)
	m.fill()
	return err
}

// mergePacked is Merge that leaves products packed.
func (m *Moments) mergePacked(next *Moments) error {
	if next == nil {
		return fmt.Errorf("moments: merge with nothing")
	}
	if m == next {
		return fmt.Errorf("moments: merge of a set of rows with itself would count them twice")
	}
	if !m.Layout.Equal(next.Layout) {
		return fmt.Errorf("moments: merge of different layouts: %v and %v; both sides need the same bases, predictors and responses", m.Layout, next.Layout)
	}
	m.merge(next)
	return m.Check()
}

// merge is Merge without its checks.
func (m *Moments) merge(next *Moments) {
	m.Rows += next.Rows
	m.Positive += next.Positive
	m.SumLogW += next.SumLogW
	for j, s := range next.Sum {
		m.Sum[j] += s
	}
	for b, s := range next.MaxRowNorm {
		m.MaxRowNorm[b] = max(m.MaxRowNorm[b], s)
	}
	switch {
	case next.SumW == 0:
	case m.SumW == 0:
		m.SumW = next.SumW
		copy(m.Mean, next.Mean)
		copy(m.MeanR, next.MeanR)
		copy(m.low, next.low)
		copy(m.lowR, next.lowR)
		m.XX, m.XR, m.RR, m.R = clone(next.XX), cloneDense(next.XR), clone(next.RR), cloneTri(next.R)
		m.held = next.held.clone()
	default:
		m.update(next)
	}
}

// before is m merged with next, whose memory it takes for X'WX; m is not changed.
func (m *Moments) before(next *Moments) *Moments {
	if m.SumW == 0 || next.SumW == 0 || m.R != nil {
		own := m.Clone()
		own.merge(next)
		return own
	}
	own := m.cloneBut(m.XX, m.held)
	own.over = true
	own.merge(next)
	own.over = false
	return own
}

// update is the pairwise update: with d the difference of the means,
//
//	C <- C_a + C_b + (W_a W_b/W) d d',   mean <- mean_a + (W_b/W) d.
func (m *Moments) update(next *Moments) {
	total := m.SumW + next.SumW
	share := next.SumW / total
	f := m.SumW * share
	d := difference(next.Mean, next.low, m.Mean, m.low)
	dr := difference(next.MeanR, next.lowR, m.MeanR, m.lowR)
	if m.R != nil {
		m.stack(next.R, math.Sqrt(f), d, dr)
	} else {
		m.addProducts(next, f, d, dr)
	}
	for j := range d {
		m.Mean[j], m.low[j] = twoSum(m.Mean[j], m.low[j]+share*d[j])
	}
	for k := range dr {
		m.MeanR[k], m.lowR[k] = twoSum(m.MeanR[k], m.lowR[k]+share*dr[k])
	}
	m.SumW = total
}

// addProducts is the update of C by parts.
func (m *Moments) addProducts(next *Moments, f float64, d, dr []float64) {
	width := m.widths()
	for a, w := range next.widths() {
		width[a] = max(width[a], w)
	}
	x, y := m.packed(width), next.packed(width)
	to := x
	if m.over {
		to = y
	}
	kernel.Add(to.data, x.data, y.data)
	for at := 0; at < len(m.pairs); {
		q := m.pairs[at]
		end := q.offB + q.dimB
		for at++; at < len(m.pairs) && m.pairs[at].a == q.a && m.pairs[at].offB == end; at++ { // neighbours in a row
			end += m.pairs[at].dimB
		}
		for i := q.offA; i < q.offA+q.dimA; i++ {
			fd, from := f*d[i], q.offB
			switch {
			case q.a == q.b && width[q.a] < q.dimA: // few
				for l, v := range d[i:to.end[i]] {
					to.own(i)[l] += fd * v
				}
				from += q.dimB
			case q.a == q.b:
				from = i
			}
			kernel.Axpy(to.rest(i, from, end), d[from:end], fd)
		}
	}
	m.held, m.XX = to, unpacked()
	if len(dr) > 0 && len(d) > 0 {
		xr, nr := m.XR.RawMatrix(), next.XR.RawMatrix()
		for i := range d {
			fd := f * d[i]
			for k, e := range dr {
				xr.Data[i*xr.Stride+k] += nr.Data[i*nr.Stride+k] + fd*e
			}
		}
	}
	rr, ns := m.RR.RawSymmetric(), next.RR.RawSymmetric()
	for k := range dr {
		fd := f * dr[k]
		for l := k; l < len(dr); l++ {
			rr.Data[k*rr.Stride+l] += ns.Data[k*ns.Stride+l] + fd*dr[l]
		}
	}
}

// Check reports sums that left the range of float64. Means and the diagonals
// bound every other entry (Cauchy-Schwarz).
func (m *Moments) Check() error {
	if !finite(m.SumW) || !finite(m.SumLogW) {
		return fmt.Errorf("moments: the sum of the weights is %g; rescale the weights", m.SumW)
	}
	squares, squaresR := m.squares()
	off := m.Layout.offsets()
	for b, basis := range m.Layout.Bases {
		for j := off[b]; j < off[b+1]; j++ {
			if !finite(m.Sum[j]) || !finite(m.Mean[j]) || !finite(squares[j]) {
				return fmt.Errorf("moments: basis %q: the squares of column %d overflow; rescale it", basis.Name, j-off[b])
			}
		}
	}
	for k := range m.MeanR {
		if !finite(m.MeanR[k]) || !finite(squaresR[k]) {
			return fmt.Errorf("moments: the squares of response %d overflow; rescale it", k)
		}
	}
	return nil
}

// squares are the sums of squares of columns and responses.
func (m *Moments) squares() (x, r []float64) {
	if m.R != nil {
		return m.factorSquares()
	}
	x, r = make([]float64, len(m.Mean)), make([]float64, len(m.MeanR))
	for j := range x {
		own, _ := m.row(j, len(x))
		x[j] = own[0]
	}
	for k := range r {
		r[k] = m.RR.At(k, k)
	}
	return x, r
}

func finite(v float64) bool { return v-v == 0 }

// difference is (a + lowA) - (b + lowB).
func difference(a, lowA, b, lowB []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = (a[i] - b[i]) + (lowA[i] - lowB[i])
	}
	return d
}

// twoSum returns a + b rounded, and the rounding error exactly (Knuth).
func twoSum(a, b float64) (sum, low float64) {
	sum = a + b
	v := sum - a
	return sum, (a - (sum - v)) + (b - v)
}

// Clone returns a copy that shares nothing with m but the layout.
func (m *Moments) Clone() *Moments { return m.cloneBut(clone(m.XX), m.held.clone()) }

// cloneBut is Clone with xx and held in place of copies of m's X'WX.
func (m *Moments) cloneBut(xx *mat.SymDense, held *packed) *Moments {
	c := *m
	c.Sum = slices.Clone(m.Sum)
	c.MaxRowNorm = slices.Clone(m.MaxRowNorm)
	c.Mean = slices.Clone(m.Mean)
	c.MeanR = slices.Clone(m.MeanR)
	c.low = slices.Clone(m.low)
	c.lowR = slices.Clone(m.lowR)
	c.held = held
	c.XX, c.XR, c.RR, c.R = xx, cloneDense(m.XR), clone(m.RR), cloneTri(m.R)
	return &c
}

func clone(a *mat.SymDense) *mat.SymDense {
	n := a.SymmetricDim()
	if n == 0 {
		return &mat.SymDense{}
	}
	c := mat.NewSymDense(n, nil)
	c.CopySym(a)
	return c
}

func cloneDense(a *mat.Dense) *mat.Dense {
	if a.IsEmpty() {
		return &mat.Dense{}
	}
	return mat.DenseCopyOf(a)
}
