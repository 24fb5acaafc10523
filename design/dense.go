package design

import "gonum.org/v1/gonum/blas/blas64"

// addProduct adds a' diag(w) b to c. Both dense products of this package go
// through this file: a faster kernel replaces it here.
func addProduct(c, a, b blas64.General, w []float64) {
	for i := range a.Rows {
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:][:a.Cols]
		rb := b.Data[i*b.Stride:][:b.Cols]
		for j, v := range ra {
			v *= wi
			row := c.Data[j*c.Stride:][:len(rb)]
			for k, u := range rb {
				row[k] += v * u
			}
		}
	}
}

// addGram adds a' diag(w) a to c: the upper triangle, then its mirror image.
func addGram(c, a blas64.General, w []float64) {
	for i := range a.Rows {
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:][:a.Cols]
		for j, v := range ra {
			v *= wi
			row := c.Data[j*c.Stride:][:len(ra)]
			for k := j; k < len(ra); k++ {
				row[k] += v * ra[k]
			}
		}
	}
	for j := range c.Rows {
		for k := range j {
			c.Data[j*c.Stride+k] = c.Data[k*c.Stride+j]
		}
	}
}
