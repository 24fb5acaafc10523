package kernel

import "math"

// Functions of one number. In assembly they are off by at most 1 unit in the last place in
// float32, 2 in float64, over all of their range: small results are as accurate as large
// ones, subnormal ones too. For 0, -0, infinities and NaN they give the values of their formulas;
// without assembly they are these formulas in float64.

// Exp sets dst = exp(src). dst may be src.
func Exp[T Float](dst, src []T) { exp(best(), dst, src) }

func exp[T Float](s isa, dst, src []T) { function(s, opExp, dst, src, math.Exp) }

// Sigmoid sets dst = 1/(1 + exp(-src)), without overflow. dst may be src.
func Sigmoid[T Float](dst, src []T) { sigmoid(best(), dst, src) }

func sigmoid[T Float](s isa, dst, src []T) { function(s, opSigmoid, dst, src, logistic) }

func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}

// Tanh sets dst = tanh(src). dst may be src.
func Tanh[T Float](dst, src []T) { tanh(best(), dst, src) }

func tanh[T Float](s isa, dst, src []T) { function(s, opTanh, dst, src, math.Tanh) }

// SiLU sets dst = src/(1 + exp(-src)), also called Swish; NaN at -Inf. dst may be src.
func SiLU[T Float](dst, src []T) { silu(best(), dst, src) }

func silu[T Float](s isa, dst, src []T) {
	function(s, opSiLU, dst, src, func(x float64) float64 { return x * logistic(x) })
}

// Softplus sets dst = log(1 + exp(src)), without overflow. dst may be src.
func Softplus[T Float](dst, src []T) { softplus(best(), dst, src) }

func softplus[T Float](s isa, dst, src []T) {
	function(s, opSoftplus, dst, src, logOnePlusExp)
}

func logOnePlusExp(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Elu sets dst = src where it is at least 0, a (exp(src) - 1) elsewhere, one rounding more
// if a is not 1. dst may be src.
func Elu[T Float](dst, src []T, a T) { elu(best(), dst, src, a) }

func elu[T Float](s isa, dst, src []T, a T) {
	functionWith(s, loop[T]{op: opElu, scalar: a}, dst, src, func(x float64) float64 {
		if x < 0 {
			return float64(a) * math.Expm1(x)
		}
		return x
	})
}

// Erf sets dst = erf(src), the error function. dst may be src.
func Erf[T Float](dst, src []T) { erf(best(), dst, src) }

func erf[T Float](s isa, dst, src []T) { function(s, opErf, dst, src, math.Erf) }

// Gelu sets dst = src P(Z < src) of a standard normal Z; NaN at -Inf. dst may be src.
func Gelu[T Float](dst, src []T) { gelu(best(), dst, src) }

func gelu[T Float](s isa, dst, src []T) {
	function(s, opGelu, dst, src, func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) })
}

// GeluTanh sets dst = src/2 (1 + tanh(sqrt(2/pi) (src + 0.044715 src^3))), the usual
// approximation of Gelu; NaN at -Inf. dst may be src.
func GeluTanh[T Float](dst, src []T) { geluTanh(best(), dst, src) }

func geluTanh[T Float](s isa, dst, src []T) {
	// The sigmoid does not cancel as 1 + tanh does.
	function(s, opGeluTanh, dst, src, func(x float64) float64 {
		return x * logistic(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
	})
}

// Mish sets dst = src tanh(log(1 + exp(src))); NaN at -Inf. dst may be src.
func Mish[T Float](dst, src []T) { mish(best(), dst, src) }

func mish[T Float](s isa, dst, src []T) {
	function(s, opMish, dst, src, func(x float64) float64 { return x * math.Tanh(logOnePlusExp(x)) })
}

// Softsign sets dst = src/(1 + |src|); NaN at both infinities. dst may be src.
func Softsign[T Float](dst, src []T) { softsign(best(), dst, src) }

func softsign[T Float](s isa, dst, src []T) {
	function(s, opSoftsign, dst, src, func(x float64) float64 { return x / (1 + math.Abs(x)) })
}

// HardSigmoid sets dst = a src + b, but at least 0 and at most 1. dst may be src.
func HardSigmoid[T Float](dst, src []T, a, b T) { hardSigmoid(best(), dst, src, a, b) }

func hardSigmoid[T Float](s isa, dst, src []T, a, b T) {
	functionWith(s, loop[T]{op: opHardSigmoid, scalar: a, second: b}, dst, src, func(x float64) float64 {
		return min(max(float64(float64(a)*x)+float64(b), 0), 1)
	})
}

// HardSwish sets dst = src HardSigmoid(src) with a = 1/6, b = 1/2; NaN at -Inf. dst may be src.
func HardSwish[T Float](dst, src []T) { hardSwish(best(), dst, src) }

func hardSwish[T Float](s isa, dst, src []T) {
	function(s, opHardSwish, dst, src, func(x float64) float64 { return x * (min(max(x+3, 0), 6) / 6) })
}

// XLogX sets dst = src log(src): 0 at 0, NaN below. dst may be src.
func XLogX(dst, src []float64) { xLogX(best(), dst, src) }

func xLogX(s isa, dst, src []float64) {
	function(s, opXLogX, dst, src, func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return x * math.Log(x)
	})
}

// function sets dst by the assembly's op, or by f where there is none.
func function[T Float](s isa, op operation, dst, src []T, f func(float64) float64) {
	functionWith(s, loop[T]{op: op}, dst, src, f)
}

// functionWith is function with the scalars of l.
func functionWith[T Float](s isa, l loop[T], dst, src []T, f func(float64) float64) {
	dst = dst[:len(src)]
	if s != plain {
		paddedVectors(s, l, dst, src)
		return
	}
	for i, x := range src {
		dst[i] = T(f(float64(x)))
	}
}
