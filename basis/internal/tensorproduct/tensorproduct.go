package basis

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// valuesAt is the map from function values at equispaced points over the range of
// the data to the coefficients that to maps on; nil where the points do not
// determine the function well.
func valuesAt(scan *marginScan, to *mat.Dense) *mat.Dense {
	n := scan.built.dim()
	if to != nil {
		_, n = to.Dims()
	}
	at := mat.NewDense(n, scan.built.dim(), nil)
	lo, hi := scan.values.min, scan.values.max
	value := make([]float64, scan.built.width())
	for i := range n {
		x := lo
		if n > 1 {
			x += float64(i) * ((hi - lo) / float64(n-1))
		}
		first := scan.built.spline.row(value, x)
		for l, v := range value {
			at.Set(i, (first+l)%scan.built.dim(), v)
		}
	}
	if to != nil {
		var product mat.Dense
		product.Mul(at, to)
		at = &product
	}
	var svd mat.SVD
	if !svd.Factorize(at, mat.SVDFull) {
		return nil
	}
	d := svd.Values(nil)
	const unstable = 4.7e-11 // the double precision to the power 0.66, as in mgcv
	if !(d[n-1] >= unstable*d[0]) {
		return nil
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	for j := range n {
		for i := range n {
			v.Set(i, j, v.At(i, j)/d[j])
		}
	}
	var out mat.Dense
	out.Mul(&v, u.T())
	return &out
}

// congruent is t's t.
func congruent(s *mat.SymDense, t *mat.Dense) *mat.SymDense {
	var product mat.Dense
	product.Product(t.T(), s, t)
	return symmetric(&product)
}

// householder is an orthonormal basis (d x (d-1)) of what is orthogonal to v: the
// last columns of the reflection that maps v to its first axis.
func householder(v []float64) *mat.Dense {
	d := len(v)
	z := mat.NewDense(d, d-1, nil)
	u := slices.Clone(v)
	norm := floats.Norm(u, 2)
	if u[0] < -1e-10*norm { // see nullOf
		norm = -norm
	}
	u[0] += norm
	uu := floats.Dot(u, u)
	for i := range d {
		for j := 1; j < d; j++ {
			h := 0.0
			if i == j {
				h = 1
			}
			if uu > 0 {
				h -= 2 * u[i] * u[j] / uu
			}
			z.Set(i, j-1, h)
		}
	}
	return z
}

// products are the penalties I x ... x S_i x ... x I.
func products(each []*mat.SymDense) []*mat.SymDense {
	n := 1
	for _, s := range each {
		n *= s.SymmetricDim()
	}
	out := make([]*mat.SymDense, len(each))
	before, after := 1, n
	for l, s := range each {
		d := s.SymmetricDim()
		after /= d
		out[l] = mat.NewSymDense(n, nil)
		for a := range before {
			for c := range after {
				for i := range d {
					for j := i; j < d; j++ {
						out[l].SetSym((a*d+i)*after+c, (a*d+j)*after+c, s.At(i, j))
					}
				}
			}
		}
		before *= d
	}
	return out
}

// kronecker multiplies the margins' maps out; nil is the identity.
func kronecker(maps []*mat.Dense, margins []margin) *mat.Dense {
	var out *mat.Dense
	for i, m := range maps {
		if m == nil {
			d := margins[i].dim()
			m = mat.NewDense(d, d, nil)
			for j := range d {
				m.Set(j, j, 1)
			}
		}
		if out == nil {
			out = m
			continue
		}
		var product mat.Dense
		product.Kronecker(out, m)
		out = &product
	}
	return out
}
