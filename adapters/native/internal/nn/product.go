package nn

import "github.com/pho-go/pho/internal/base/kernel"

// RowTensor writes the row-wise tensor product of p columns a and q columns b of n rows:
// column j q + k of dst is a_j b_k. It is the bivariate term of two feature networks
// (Rügamer 2023).
func RowTensor[T kernel.Float](dst, a []T, p int, b []T, q, n int) {
	ld := kernel.UnitStride[T](n)
	for j := range p {
		for k := range q {
			kernel.Mul(dst[(j*q+k)*ld:][:ld], a[j*ld:][:ld], b[k*ld:][:ld])
		}
	}
}

// RowTensorGrad adds the gradients of a and b to da and db, given that of their product.
func RowTensorGrad[T kernel.Float](da, db, d, a []T, p int, b []T, q, n int) {
	ld := kernel.UnitStride[T](n)
	sum := make([]T, n)
	for j := range p {
		clear(sum)
		x := a[j*ld:][:n]
		for k := range q {
			g, y, gb := d[(j*q+k)*ld:][:n], b[k*ld:][:n], db[k*ld:][:n]
			for i, v := range g {
				sum[i] += v * y[i]
				gb[i] += v * x[i]
			}
		}
		for i, s := range sum {
			da[j*ld+i] += s
		}
	}
}
