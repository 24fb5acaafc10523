// Package kernel holds the numeric loops that decide the speed of a forward pass
// and of moments: matrix products with prepared weights, X'WX and elementwise
// functions, in float32 and float64. They know nothing of statistics. They run in AVX-512,
// AVX2 or NEON assembly (written by gen) where the machine has it, in Go everywhere else.
//
// The order of every sum depends on the shape of a row alone: over k in increasing order,
// or in partial sums if prepared weights have one column (see sumLanes). So a row's result
// does not depend on the rows beside it. Type isa says which results are the same bits on every
// machine, and which agree to rounding. No function starts a goroutine; all are safe for concurrent
// use.
package kernel

// Float is the engine's precision.
type Float interface{ float32 | float64 }

// Relu sets dst = max(src, 0); NaN stays. dst may be src.
func Relu[T Float](dst, src []T) { relu(best(), dst, src) }

func relu[T Float](s isa, dst, src []T) {
	dst = dst[:len(src)]
	i := wholeVectors(s, opRelu, dst, src, nil, 0)
	dst, src = dst[i:], src[i:]
	for i, x := range src {
		if x < 0 {
			x = 0
		}
		dst[i] = x
	}
}

// LeakyRelu sets dst = src where positive, a*src elsewhere. dst may be src.
func LeakyRelu[T Float](dst, src []T, a T) { leakyRelu(best(), dst, src, a) }

func leakyRelu[T Float](s isa, dst, src []T, a T) {
	dst = dst[:len(src)]
	i := wholeVectors(s, opLeakyRelu, dst, src, nil, a)
	dst, src = dst[i:], src[i:]
	for i, x := range src {
		if x < 0 {
			x *= a
		}
		dst[i] = x
	}
}

// Clip sets dst = src, lo where that is less, and then hi where that is more; NaN stays. dst may be src.
func Clip[T Float](dst, src []T, lo, hi T) { clip(best(), dst, src, lo, hi) }

func clip[T Float](s isa, dst, src []T, lo, hi T) {
	const block = 1024 // stays in the fastest cache between the two
	for len(src) > 0 {
		n := min(len(src), block)
		to, from := dst[:n], src[:n]
		i := wholeVectors(s, opAtLeast, to, from, nil, lo)
		wholeVectors(s, opAtMost, to[:i], to[:i], nil, hi)
		for ; i < n; i++ {
			v := from[i]
			if v < lo {
				v = lo
			}
			if v > hi {
				v = hi
			}
			to[i] = v
		}
		dst, src = dst[n:], src[n:]
	}
}

// Axpy adds a*src to dst.
func Axpy[T Float](dst, src []T, a T) { axpy(best(), dst, src, a) }

func axpy[T Float](s isa, dst, src []T, a T) {
	dst = dst[:len(src)]
	if s != plain {
		paddedVectors(s, loop[T]{op: opAxpy, scalar: a}, dst, src)
		return
	}
	for i, x := range src {
		dst[i] += T(a * x)
	}
}

// Dot returns the sum of a[i]*b[i], b at least as long as a. Its order depends
// on the length alone, and on whether there is assembly.
func Dot[T Float](a, b []T) T { return dot(best(), a, b) }

func dot[T Float](s isa, a, b []T) T {
	b = b[:len(a)]
	n := len(a) - len(a)%sumLanes[T]()
	var sum T
	if s != plain && n > 0 {
		l := loop[T]{a: at(a, 0), b: at(b, 0), n: uintptr(n), op: opDot}
		runOperation(s, &l)
		sum, a, b = l.scalar, a[n:], b[n:]
	}
	for i, x := range a {
		sum += T(x * b[i])
	}
	return sum
}
