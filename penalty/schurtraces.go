package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// invert prepares traces and products at what solve has factored last.
func (e *schur) invert() {
	e.left.invert()
	e.below.CopySym(e.left.inverse)
	e.left.middle(e.rho)
	e.expanded, e.across = false, nil
	if !e.penalised() {
		return
	}
	e.expand()
	weights := make([]float64, e.n())
	for j, own := range e.members {
		if own == nil {
			continue
		}
		clear(weights)
		for _, i := range own {
			weights[i] = e.root[i] * e.root[i]
		}
		weightedGram(e.k[j], e.p, weights)
		weightedGram(e.h[j], e.pt, weights)
	}
	e.sumNear()
}

// expand makes what the inverse of all columns takes, unless it is there.
func (e *schur) expand() {
	if e.expanded {
		return
	}
	e.invertGroups()
	copy(e.p, e.y)
	e.solveUpper(e.p, e.q)
	e.left.intoInner(e.p, e.n())
	e.timesInverse()
	e.expanded = true
}

// timesInverse sets Q = P T^-1.
func (e *schur) timesInverse() {
	n := e.n()
	q := product(mat.NewDense(n, e.q, e.p), full(e.below))
	copy(e.pt, q.RawMatrix().Data)
}

// weightedGram sets dst = x'diag(w) x, w >= 0.
func weightedGram(dst *mat.SymDense, x, w []float64) {
	dst.Zero()
	linalg.AddWeightedGram(dst, mat.NewDense(len(w), dst.SymmetricDim(), x), w)
}

// intoInner multiplies x, n x q by rows, by the map from coordinates of the overlaps to those of c.
func (c *criterion) intoInner(x []float64, n int) {
	for i, o := range c.overlap {
		if o != nil {
			columns := mat.NewDense(n, c.q, x).Slice(0, n, c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim).(*mat.Dense)
			columns.Copy(product(mat.DenseCopyOf(columns), o.to))
		}
	}
}

// sumNear adds up what groups have in tr(A^-1 R_j^2 A^-1 R_k^2).
func (e *schur) sumNear() {
	e.near.Zero()
	k := len(e.members)
	sums := make([]float64, k*k)
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for a := lo; a < hi; a++ {
			ra := e.root[a] * e.root[a]
			if ra == 0 {
				continue
			}
			for b := lo; b < hi; b++ {
				own := e.inverse[at+(a-lo)*m+b-lo]
				rb := e.root[b] * e.root[b]
				if rb != 0 {
					sums[e.owner[a]*k+e.owner[b]] += ra * rb * own * (own + 2*e.added(a, b))
				}
			}
		}
	}
	for j := range k {
		for l := j; l < k; l++ {
			e.near.SetSym(j, l, (sums[j*k+l]+sums[l*k+j])/2)
		}
	}
}

// added is Q_a P_b', what the columns left add to the inverse.
func (e *schur) added(a, b int) float64 {
	return kernel.Dot(e.pt[a*e.q:(a+1)*e.q], e.p[b*e.q:(b+1)*e.q])
}

// spent is lambda_j tr(A^-1 S_j).
func (e *schur) spent(j int) float64 {
	if k := e.leftOf[j]; k >= 0 {
		return e.left.spentBy(k)
	}
	sum, g := 0.0, 0
	for _, i := range e.members[j] {
		for e.lo[g+1] <= i {
			g++
		}
		lo, hi := e.group(g)
		own := e.inverse[e.at[g]+(i-lo)*(hi-lo)+i-lo]
		sum += e.root[i] * e.root[i] * (own + e.added(i, i))
	}
	return sum
}

// traceProduct is lambda_j lambda_l tr(A^-1 S_j A^-1 S_l).
func (e *schur) traceProduct(j, l int) float64 {
	switch a, b := e.leftOf[j], e.leftOf[l]; {
	case a >= 0 && b >= 0:
		return e.left.traceProduct(a, b)
	case a >= 0:
		return e.traceWithLeft(l, a)
	case b >= 0:
		return e.traceWithLeft(j, b)
	}
	return e.near.At(j, l) + linalg.TraceOfProduct(e.h[j], e.k[l])
}

// traceWithLeft is tr(H_j S_k), k one of left's.
func (e *schur) traceWithLeft(j, k int) float64 {
	pen := &e.left.penalties[k]
	lo := e.left.blocks[pen.block].lo
	diag, root := e.left.scaledRoot(k, e.rho)
	sum, h := 0.0, e.h[j]
	for i := range pen.rank {
		if diag != nil {
			sum += diag[i] * diag[i] * h.At(lo+i, lo+i)
			continue
		}
		row := root.RawRowView(i)
		for a, x := range row {
			for b, y := range row {
				sum += x * y * h.At(lo+a, lo+b)
			}
		}
	}
	return sum
}

// bilinears is criterion.bilinears of the parts of x that penalties have. What each eliminated one asks of Q, for which
// all of it is read, is formed once.
func (e *schur) bilinears(x [][]float64) *mat.SymDense {
	along := make([][]float64, len(x))
	for j, own := range e.members {
		if own != nil {
			along[j] = e.along(e.pt, x[j], j)
		}
	}
	out := mat.NewSymDense(len(x), nil)
	for j := range x {
		for l := j; l < len(x); l++ {
			v := 0.0
			switch a, b := e.leftOf[j], e.leftOf[l]; {
			case a >= 0 && b >= 0:
				v = e.left.bilinearOf(x[j], x[l], a, b)
			case a >= 0:
				v = e.bilinearWithLeft(along[l], x[j], a)
			case b >= 0:
				v = e.bilinearWithLeft(along[j], x[l], b)
			default:
				v = e.bilinearNear(x[j], x[l], j, l) + dot(along[j], e.along(e.p, x[l], l))
			}
			out.SetSym(j, l, v)
		}
	}
	return out
}

// bilinearNear is the part of x'M_jl y that groups have by themselves.
func (e *schur) bilinearNear(x, y []float64, j, l int) float64 {
	clear(e.of)
	for i, at := range e.members[l] {
		e.of[at] = e.root[at] * y[i]
	}
	sum, g := 0.0, 0
	for i, at := range e.members[j] {
		for e.lo[g+1] <= at {
			g++
		}
		lo, hi := e.group(g)
		m := hi - lo
		sum += e.root[at] * x[i] * dot(e.inverse[e.at[g]+(at-lo)*m:][:m], e.of[lo:hi])
	}
	return sum
}

// along is m'R_j x, m being P or Q.
func (e *schur) along(m, x []float64, j int) []float64 {
	sum := make([]float64, e.q)
	for i, at := range e.members[j] {
		kernel.Axpy(sum, m[at*e.q:(at+1)*e.q], e.root[at]*x[i])
	}
	return sum
}

// bilinearWithLeft is x'M_jk y of an eliminated penalty j, along being Q'R_j x, and left's penalty k.
func (e *schur) bilinearWithLeft(along, y []float64, k int) float64 {
	pen := &e.left.penalties[k]
	block := &e.left.blocks[pen.block]
	diag, root := e.left.scaledRoot(k, e.rho)
	sum := 0.0
	along = along[block.lo : block.lo+block.dim]
	for i, v := range y {
		if diag != nil {
			sum -= along[i] * diag[i] * v
			continue
		}
		sum -= v * dot(root.RawRowView(i), along)
	}
	return sum
}

// determined tells, for columns eliminated that have no penalty, that the columns of
// which none has one are of full rank by a wide margin, as the function of that name does.
func (e *schur) determined(s *system, unit, tol float64) bool {
	clear(e.root)
	if _, ok := e.factorize(); !ok {
		return false
	}
	free, at := s.q-s.penalised, s.penalised
	y := make([]float64, e.n()*free)
	for i := range e.n() {
		copy(y[i*free:(i+1)*free], e.y[i*e.q+at:])
	}
	e.invertGroups()
	// The largest eigenvalue is at most the largest group's plus the largest of the others.
	squares, group := squaredSum(e.inverse), 0
	for g := range e.at {
		lo, hi := e.group(g)
		group = max(group, hi-lo)
	}
	largest := unit * float64(group+free)
	if free > 0 {
		base, t := mat.NewSymDense(free, nil), mat.NewSymDense(free, nil)
		for i := range free {
			for j := i; j < free; j++ {
				base.SetSym(i, j, e.base.At(at+i, at+j))
			}
		}
		subtractGram(t, base, y, e.n())
		var chol mat.Cholesky
		if !chol.Factorize(t) || chol.InverseTo(t) != nil {
			return false
		}
		e.solveUpper(y, free) // P
		p := mat.NewDense(e.n(), free, y)
		q := product(p, full(t))
		// |A^-1| <= |A_f^-1| + |P T^-1 P'| + 2 |P T^-1| + |T^-1|.
		k, h := mat.NewSymDense(free, nil), mat.NewSymDense(free, nil)
		ones := make([]float64, e.n())
		for i := range ones {
			ones[i] = 1
		}
		weightedGram(k, y, ones)
		weightedGram(h, q.RawMatrix().Data, ones)
		sum := math.Sqrt(squares) + math.Sqrt(math.Max(0, linalg.TraceOfProduct(h, k))) + 2*math.Sqrt(squaredSum(q.RawMatrix().Data)) + mat.Norm(t, 2)
		squares = sum * sum
	}
	return 1/math.Sqrt(squares) > 100*tol*tol*largest
}

func squaredSum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}
