// Package kernel holds the numeric loops that decide the speed of a forward
// pass: matrix products with prepared weights and elementwise functions, in
// float32 and float64. Nothing statistical. Every element of a product is
// summed over k in increasing order whatever the number of rows, so a row's
// result does not depend on its neighbours.
package kernel

import "math"

// Float is the engine's precision.
type Float interface{ float32 | float64 }

// Relu sets dst = max(src, 0); NaN stays. dst may be src.
func Relu[T Float](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		if x < 0 {
			x = 0
		}
		dst[i] = x
	}
}

// LeakyRelu sets dst = src where positive, a*src elsewhere. dst may be src.
func LeakyRelu[T Float](dst, src []T, a T) {
	dst = dst[:len(src)]
	for i, x := range src {
		if x < 0 {
			x *= a
		}
		dst[i] = x
	}
}

// Sigmoid sets dst = 1/(1 + exp(-src)), without overflow. dst may be src.
func Sigmoid[T Float](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		e := math.Exp(-math.Abs(float64(x)))
		if x >= 0 {
			dst[i] = T(1 / (1 + e))
		} else {
			dst[i] = T(e / (1 + e))
		}
	}
}

// Tanh sets dst = tanh(src). dst may be src.
func Tanh[T Float](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(math.Tanh(float64(x)))
	}
}
