package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// randomStructured has p columns, some of them few, and k columns U and N; none: nil.
func randomStructured(r *rand.Rand, p int, few []int, k int) *Structured {
	dense := func(k int) *mat.Dense {
		if k == 0 {
			return nil
		}
		x := mat.NewDense(p, k, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, x)
		return x
	}
	s := &Structured{D: make([]float64, p), Few: few, V: dense(len(few)), U: dense(k), N: dense(k)}
	for i := range s.D {
		s.D[i] = r.NormFloat64()
	}
	return s
}

// symmetricOf are all entries of s by At.
func symmetricOf(s mat.Symmetric) *mat.SymDense {
	n := s.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, s.At(i, j))
		}
	}
	return out
}

// copied is s in other memory.
func (s *Structured) copied() *Structured {
	c := func(x *mat.Dense) *mat.Dense {
		if x == nil {
			return nil
		}
		return mat.DenseCopyOf(x)
	}
	return &Structured{D: slices.Clone(s.D), Few: s.Few, V: c(s.V), U: c(s.U), N: c(s.N)}
}

// TestStructured: whatever is done with few numbers comes out as with all of them.
func TestStructured(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const p = 300
	for _, few := range [][]int{nil, {0, 1, 2}, {3, 17, 298, 299}} {
		for _, k := range []int{0, 2} {
			s := randomStructured(r, p, few, k)
			name := fmt.Sprintf("few %v, %d columns", few, k)
			whole := symmetricOf(s)
			same := func(what string, got, want mat.Matrix) {
				t.Helper()
				if !mat.EqualApprox(got, want, 1e-10) {
					t.Errorf("%s: %s differs", name, what)
				}
			}
			vector := func(v []float64) mat.Matrix { return mat.NewDense(len(v), 1, v) }
			x := mat.NewDense(p, 3, nil)
			x.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, x)
			a, b := mat.Col(nil, 0, x), mat.Col(nil, 1, x)

			same("Dense", s.Dense(), whole)
			var product mat.Dense
			product.Mul(whole, x)
			same("TimesOf", TimesOf(s, x), &product)
			same("RowsTimes", RowsTimes(mat.DenseCopyOf(x.T()), s), product.T())
			same("MulVec", vector(MulVec(s, a)), product.ColView(0))
			same("Bilinear", vector([]float64{Bilinear(s, a, b)}), vector([]float64{mat.Inner(mat.NewVecDense(p, a), whole, mat.NewVecDense(p, b))}))
			same("Diagonal", vector(Diagonal(s)), vector(Diagonal(whole)))

			all := make([]int, 280) // without gaps
			for i := range all {
				all[i] = 10 + i
			}
			for _, at := range [][]int{all, {5}, {0, 3, 17, 18, 298}, {299, 1, 17, 0}, append([]int{299, 298, 0}, all...)} {
				same("Part", symmetricOf(Part(s, at)), densePart(whole, at))
			}
			same("Range", Range(s, 17, 290), Range(whole, 17, 290))
			if n := Part(s, nil).SymmetricDim(); n != 0 {
				t.Errorf("%s: no columns are %d", name, n)
			}
			for _, columns := range [][]int{{0}, {1, 17, 299}, all} {
				for _, rows := range [][]int{nil, {2, 3, 298}, all} {
					of := rows
					if rows == nil {
						of = make([]int, p)
						for i := range of {
							of[i] = i
						}
					}
					want := mat.NewDense(len(of), len(columns), nil)
					for i, row := range of {
						for c, column := range columns {
							want.Set(i, c, whole.At(row, column))
						}
					}
					same("Block", s.Block(rows, columns), want)
				}
			}

			e := slices.Clone(a)
			scaled, want := ScaledBoth(s.copied(), e), symmetricOf(s)
			ScaleBoth(want, e)
			same("ScaledBoth", symmetricOf(scaled), want)
			for _, i := range []int{0, 17, 40} {
				own, want := s.copied(), symmetricOf(s)
				Clear(own, i)
				Clear(want, i)
				same("Clear", symmetricOf(own), want)
			}
			var tripled mat.SymDense
			tripled.ScaleSym(3, whole)
			same("Scale", symmetricOf(Scale(3, s)), &tripled)
			same("what was scaled", symmetricOf(s), whole)
			if norm := mat.Norm(whole, 2); NormBound(s) < norm*(1-1e-12) {
				t.Errorf("%s: the norm %g is bounded by %g", name, norm, NormBound(s))
			}

			other := randomStructured(r, p, nil, 1)
			shared := &Structured{D: other.D, U: randomStructured(r, p, nil, 2).U, N: s.N}
			for _, o := range []mat.Symmetric{nil, (*mat.SymDense)(nil), (*Structured)(nil), other, symmetricOf(other), shared} {
				if o == mat.Symmetric(shared) && k == 0 {
					continue
				}
				sum := symmetricOf(s)
				if !IsNil(o) {
					whole := symmetricOf(o)
					trace := TraceOfProduct(sum, whole)
					same("Trace", vector([]float64{Trace(s, o)}), vector([]float64{trace}))
					same("Trace turned", vector([]float64{Trace(o, s)}), vector([]float64{trace}))
					sum.AddSym(sum, whole)
				}
				if few == nil {
					same(fmt.Sprintf("Plus %T", o), symmetricOf(Plus(s.copied(), o)), sum)
				}
				same(fmt.Sprintf("dense Plus %T", o), Plus(symmetricOf(s), o), sum)
			}
			if _, _, ok := FiniteSym(s); !ok {
				t.Errorf("%s: not finite", name)
			}
			s.D[200] = math.Inf(1)
			if i, _, ok := FiniteSym(s); ok || i != 200 {
				t.Errorf("%s: row %d is not finite", name, i)
			}
		}
	}
}
