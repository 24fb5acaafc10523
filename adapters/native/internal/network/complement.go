package network

import (
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
)

// complement projects on the orthogonal complement of a batch's structured columns,
// intercept included: online orthogonalization (ONO; Rügamer 2023, section 3.1 and
// appendix).
type complement struct {
	rows, rank int
	q          []float64 // rank orthonormal columns, one after another
}

// of finds an orthonormal basis of the columns of x (n x p) by Gram-Schmidt,
// twice, leaving out what is a combination of earlier columns.
func (c *complement) of(x []float64, n int, intercept bool) {
	c.rows, c.rank, c.q = n, 0, c.q[:0]
	if intercept {
		one := make([]float64, n)
		for i := range one {
			one[i] = 1
		}
		c.add(one, 0)
	}
	p := 0
	if n > 0 {
		p = len(x) / n
	}
	for j := range p {
		v := make([]float64, n)
		for i := range v {
			v[i] = x[i*p+j]
		}
		c.add(v, spanned*norm(v))
	}
}

// spanned is the share of a column's norm that must be left by earlier columns: what has
// less is a combination of them.
const spanned = 1e-10

// add extends the basis by what earlier columns leave of v, if its norm is above least,
// and reports whether it did. v is overwritten.
func (c *complement) add(v []float64, least float64) bool {
	for range 2 {
		for k := range c.rank {
			q := c.column(k)
			d := 0.0
			for i, x := range v {
				d += x * q[i]
			}
			for i := range v {
				v[i] -= d * q[i]
			}
		}
	}
	after := norm(v)
	if !(after > least) {
		return false
	}
	for _, x := range v {
		c.q = append(c.q, x/after)
	}
	c.rank++
	return true
}

func (c *complement) column(k int) []float64 { return c.q[k*c.rows : (k+1)*c.rows] }

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// project replaces each column of u (n rows, see nn.Layer) by u - Q Q'u. The projector is
// symmetric, so the same call takes gradients back.
func project[T kernel.Float](c *complement, u []T, n int) {
	ld := kernel.UnitStride[T](n)
	for j := 0; j < len(u); j += ld {
		column := u[j:][:n]
		for k := range c.rank {
			q, dot := c.column(k), 0.0
			for i, x := range column {
				dot += q[i] * float64(x)
			}
			for i, x := range q {
				column[i] -= T(x * dot)
			}
		}
	}
}
