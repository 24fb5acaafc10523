package additive

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// standardise finds mean and standard deviation of the columns, constraints absorbed.
func (s *Part) standardise(b *data.Batch) error {
	p := s.Width()
	s.mean, s.sd = make([]float64, p), make([]float64, p)
	for j := range s.sd {
		s.sd[j] = 1
	}
	x := make([]float64, b.Rows()*p)
	if err := s.Eval(x, p, b); err != nil {
		return err
	}
	mean, sd := make([]float64, p), make([]float64, p)
	n := float64(b.Rows())
	for i, v := range x {
		mean[i%p] += v / n
	}
	for i, v := range x {
		d := v - mean[i%p]
		sd[i%p] += d * d / n
	}
	for j := range sd {
		sd[j] = math.Sqrt(sd[j])
		if !(sd[j] > 1e-12*math.Abs(mean[j])) {
			sd[j] = 1
		}
		if !s.Intercept {
			mean[j] = 0
		}
	}
	s.mean, s.sd = mean, sd
	return nil
}

// Eval writes the columns of training at the n rows of b to dst (n x p, row stride
// stride).
func (s *Part) Eval(dst []float64, stride int, b *data.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	for j, block := range s.blocks {
		raw := mat.NewDense(n, block.Term.Dim(), nil)
		if err := block.Term.Eval(raw, b); err != nil {
			return err
		}
		x := raw
		if s.z[j] != nil {
			x = new(mat.Dense)
			x.Mul(raw, s.z[j])
		}
		for i := range n {
			row := dst[i*stride+s.start[j]:]
			for k, v := range x.RawRowView(i) {
				row[k] = (v - s.mean[s.start[j]+k]) / s.sd[s.start[j]+k]
			}
		}
	}
	if s.inverse != nil {
		x := mat.NewDense(n, stride, dst[:n*stride])
		var y mat.Dense
		y.Mul(x.Slice(0, n, 0, s.Width()), s.inverse)
		x.Slice(0, n, 0, s.Width()).(*mat.Dense).Copy(&y)
	}
	return nil
}

// setPenalty is sum_j lambda_j S_j on standardised columns, over the scale of the response.
func (s *Part) setPenalty(at *decompose.Constrained, scale float64) {
	s.Penalty = mat.NewSymDense(s.Width(), nil)
	for j, t := range at.Terms {
		lambda := s.Result.Predictors[0].Terms[j].SP
		if len(lambda) != len(t.S) { // an unpenalised projection has none
			lambda = make([]float64, len(t.S))
		}
		for i, S := range t.S {
			for a := range t.Dim {
				for b := a; b < t.Dim; b++ {
					u, v := t.Start+a, t.Start+b
					s.Penalty.SetSym(u, v, s.Penalty.At(u, v)+lambda[i]/scale*S.At(a, b)/(s.sd[u]*s.sd[v]))
				}
			}
		}
	}
}

// setCoef is the solution on standardised columns.
func (s *Part) setCoef(at *decompose.Constrained) error {
	s.Coef = make([]float64, s.Width())
	for j, t := range at.Terms {
		r := s.Result.Predictors[0].Terms[j]
		own := mat.NewVecDense(len(r.Alpha), r.Alpha)
		if at.Z[j] != nil {
			free := mat.NewVecDense(t.Dim, nil)
			if err := free.SolveVec(at.Z[j], own); err != nil {
				return fmt.Errorf("native: term %q: its coefficients are not in the space of its constraint: %w", r.Name, err)
			}
			own = free
		}
		for i := range t.Dim {
			s.Coef[t.Start+i] = own.AtVec(i) * s.sd[t.Start+i]
		}
	}
	return nil
}

// condition finds R and goes over to its coordinates; w are the working weights.
func (s *Part) condition(b *data.Batch, w []float64, sumW float64) error {
	h, err := s.hessian(b, w, sumW)
	if err != nil {
		return err
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return fmt.Errorf("native: the formula's columns and penalties have no positive definite Hessian: fix smoothing parameters (SP) or leave terms out")
	}
	var r, inverse mat.TriDense
	chol.UTo(&r)
	if err := inverse.InverseTri(&r); err != nil {
		return fmt.Errorf("native: the formula's columns are too close to linear dependence to train: leave terms out: %w", err)
	}
	var coef mat.VecDense
	coef.MulVec(&r, mat.NewVecDense(s.Width(), s.Coef))
	copy(s.Coef, coef.RawVector().Data)
	s.inverse = mat.DenseCopyOf(&inverse)
	s.Penalty = congruent(s.Penalty, s.inverse)
	return nil
}

// hessian is X'WX/W + S/W on standardised columns, with a small ridge: aliased columns have
// no curvature of their own.
func (s *Part) hessian(b *data.Batch, w []float64, sumW float64) (*mat.SymDense, error) {
	p, n := s.Width(), b.Rows()
	x := make([]float64, n*p)
	if err := s.Eval(x, p, b); err != nil {
		return nil, err
	}
	gram := make([]float64, p*p)
	kernel.AddGram(gram, p, x, p, p, n, w)
	h := mat.NewSymDense(p, gram)
	h.AddSym(h, s.Penalty)
	h.ScaleSym(1/sumW, h)
	const ridge = 1e-8 // of the diagonal and of its mean
	mean := mat.Trace(h) / float64(p)
	for i := range p {
		h.SetSym(i, i, h.At(i, i)+ridge*(mean+h.At(i, i)))
	}
	return h, nil
}

// congruent is A'S A.
func congruent(s *mat.SymDense, a *mat.Dense) *mat.SymDense {
	var half, full mat.Dense
	half.Mul(s, a)
	full.Mul(a.T(), &half)
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	for i := range s.SymmetricDim() {
		for j := i; j < s.SymmetricDim(); j++ {
			out.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return out
}

// Raw returns the blocks with coefficients of their raw columns, those that coef (p, in the
// coordinates of training) stands for, and the shift of the intercept that takes the place
// of the columns' means.
func (s *Part) Raw(coef []float64) (blocks []decompose.Block, shift float64) {
	if s.inverse != nil {
		var v mat.VecDense
		v.MulVec(s.inverse, mat.NewVecDense(len(coef), coef))
		coef = v.RawVector().Data
	}
	for j, block := range s.blocks {
		own := make([]float64, s.start[j+1]-s.start[j])
		for k := range own {
			at := s.start[j] + k
			own[k] = coef[at] / s.sd[at]
			shift -= own[k] * s.mean[at]
		}
		if s.z[j] != nil {
			var v mat.VecDense
			v.MulVec(s.z[j], mat.NewVecDense(len(own), own))
			own = v.RawVector().Data
		}
		block.Coef = own
		blocks = append(blocks, block)
	}
	return blocks, shift
}
