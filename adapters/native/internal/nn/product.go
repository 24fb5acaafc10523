package nn

import "github.com/pho-go/pho/internal/kernel"

// RowTensor writes the row-wise tensor product of a (n x p, lda apart) and b (n x
// q, ldb apart): element j q + k of row i of dst (ldd apart) is a_ij b_ik. It is
// the bivariate term of two feature networks (Rügamer 2023).
func RowTensor[T kernel.Float](dst []T, ldd int, a []T, lda, p int, b []T, ldb, q, n int) {
	for i := range n {
		rb := b[i*ldb:][:q]
		for j, x := range a[i*lda:][:p] {
			row := dst[i*ldd+j*q:][:q]
			for k, y := range rb {
				row[k] = x * y
			}
		}
	}
}

// RowTensorGrad adds the gradients of a and b to da and db (strides as of a and
// b), given that of their product.
func RowTensorGrad[T kernel.Float](da, db, d []T, ldd int, a []T, lda, p int, b []T, ldb, q, n int) {
	for i := range n {
		rb, gb := b[i*ldb:][:q], db[i*ldb:][:q]
		for j, x := range a[i*lda:][:p] {
			var s T
			for k, g := range d[i*ldd+j*q:][:q] {
				s += g * rb[k]
				gb[k] += g * x
			}
			da[i*lda+j] += s
		}
	}
}
