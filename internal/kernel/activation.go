package kernel

import "math"

// SiLU sets dst = src/(1 + exp(-src)), also called Swish. dst may be src.
func SiLU[T Float](dst, src []T) { silu(best(), dst, src) }

func silu[T Float](_ isa, dst, src []T) {
	each(dst, src, func(x float64) float64 {
		if e := math.Exp(-math.Abs(x)); x < 0 {
			return x * e / (1 + e)
		} else {
			return x / (1 + e)
		}
	})
}

// Softplus sets dst = log(1 + exp(src)), without overflow. dst may be src.
func Softplus[T Float](dst, src []T) { softplus(best(), dst, src) }

func softplus[T Float](_ isa, dst, src []T) {
	each(dst, src, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) })
}

// Erf sets dst = erf(src), the error function. dst may be src.
func Erf[T Float](dst, src []T) { erf(best(), dst, src) }

func erf[T Float](_ isa, dst, src []T) { each(dst, src, math.Erf) }

// Gelu sets dst = src P(Z < src) of a standard normal Z. dst may be src.
func Gelu[T Float](dst, src []T) { gelu(best(), dst, src) }

func gelu[T Float](_ isa, dst, src []T) {
	each(dst, src, func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) })
}

// GeluTanh sets dst = src/2 (1 + tanh(sqrt(2/pi) (src + 0.044715 src^3))), the usual
// approximation of Gelu. dst may be src.
func GeluTanh[T Float](dst, src []T) { geluTanh(best(), dst, src) }

func geluTanh[T Float](_ isa, dst, src []T) {
	each(dst, src, func(x float64) float64 {
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	})
}

// each sets dst = f(src) by functions of package math.
func each[T Float](dst, src []T, f func(float64) float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(f(float64(x)))
	}
}
