package kernel

// Number is what elementwise arithmetic runs on.
type Number interface{ float32 | float64 | int64 }

// Add sets dst = a + b; an operand of length 1 is repeated. dst may be a or b.
func Add[T Number](dst, a, b []T) { add(best(), dst, a, b) }

func add[T Number](s isa, dst, a, b []T) {
	if len(a) < len(b) {
		a, b = b, a
	}
	dst, a, b = vectors(s, opAdd, opAddScalar, 0, dst, a, b)
	n := len(dst)
	switch {
	case len(b) == n:
		a, b = a[:n], b[:n]
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case len(a) == n:
		a, y := a[:n], b[0]
		for i := range dst {
			dst[i] = a[i] + y
		}
	default:
		fill(dst, a[0]+b[0])
	}
}

// Mul sets dst = a * b; an operand of length 1 is repeated. dst may be a or b.
func Mul[T Number](dst, a, b []T) { mul(best(), dst, a, b) }

func mul[T Number](s isa, dst, a, b []T) {
	if len(a) < len(b) {
		a, b = b, a
	}
	dst, a, b = vectors(s, opMul, opMulScalar, 0, dst, a, b)
	n := len(dst)
	switch {
	case len(b) == n:
		a, b = a[:n], b[:n]
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	case len(a) == n:
		a, y := a[:n], b[0]
		for i := range dst {
			dst[i] = a[i] * y
		}
	default:
		fill(dst, a[0]*b[0])
	}
}

// Sub sets dst = a - b; an operand of length 1 is repeated. dst may be a or b.
func Sub[T Number](dst, a, b []T) { sub(best(), dst, a, b) }

func sub[T Number](s isa, dst, a, b []T) {
	dst, a, b = vectors(s, opSub, opSubScalar, opScalarSub, dst, a, b)
	n := len(dst)
	switch {
	case len(a) == n && len(b) == n:
		a, b = a[:n], b[:n]
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	case len(a) == n:
		a, y := a[:n], b[0]
		for i := range dst {
			dst[i] = a[i] - y
		}
	case len(b) == n:
		x, b := a[0], b[:n]
		for i := range dst {
			dst[i] = x - b[i]
		}
	default:
		fill(dst, a[0]-b[0])
	}
}

// Div sets dst = a / b; an operand of length 1 is repeated. dst may be a or b.
func Div[T Float](dst, a, b []T) { div(best(), dst, a, b) }

func div[T Float](s isa, dst, a, b []T) {
	dst, a, b = vectors(s, opDiv, opDivScalar, opScalarDiv, dst, a, b)
	n := len(dst)
	switch {
	case len(a) == n && len(b) == n:
		a, b = a[:n], b[:n]
		for i := range dst {
			dst[i] = a[i] / b[i]
		}
	case len(a) == n:
		a, y := a[:n], b[0]
		for i := range dst {
			dst[i] = a[i] / y
		}
	case len(b) == n:
		x, b := a[0], b[:n]
		for i := range dst {
			dst[i] = x / b[i]
		}
	default:
		fill(dst, a[0]/b[0])
	}
}

// Max sets dst to the larger of a and b, of as many elements, of which dst may be one. Where
// one of them is NaN, or both are 0, dst may be either.
func Max[T Float](dst, a, b []T) { larger(best(), dst, a, b) }

func larger[T Float](s isa, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := wholeVectors(s, opMax, dst, a, b, 0)
	dst, a, b = dst[i:], a[i:], b[i:]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

func fill[T Number](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// vectors computes whole vectors in assembly and returns what is left of the slices; an
// operand of length 1 stays as it is. both, right and left are the operations for two
// slices, a slice and a scalar, a scalar and a slice; 0 if that form does not occur. One
// operation rounds alike in assembly and in Go, so no bit depends on where the rest begins.
func vectors[T Number](s isa, both, right, left operation, dst, a, b []T) (restDst, restA, restB []T) {
	// Rows of few columns come one by one: a loop is over before a call begins.
	const short = 16
	if len(dst) < short {
		return dst, a, b
	}
	i := 0
	switch d := any(dst).(type) {
	case []float64:
		i = vectorsOf(s, both, right, left, d, any(a).([]float64), any(b).([]float64))
	case []float32:
		i = vectorsOf(s, both, right, left, d, any(a).([]float32), any(b).([]float32))
	}
	if i == 0 {
		return dst, a, b
	}
	if len(a) > 1 {
		a = a[i:]
	}
	if len(b) > 1 {
		b = b[i:]
	}
	return dst[i:], a, b
}

func vectorsOf[T Float](s isa, both, right, left operation, dst, a, b []T) int {
	n := len(dst)
	if s == plain || n < lanes[T](s) {
		return 0
	}
	switch {
	case len(a) >= n && len(b) >= n:
		return wholeVectors(s, both, dst, a[:n], b, 0)
	case len(a) >= n && len(b) == 1:
		return wholeVectors(s, right, dst, a[:n], nil, b[0])
	case len(b) >= n && len(a) == 1:
		return wholeVectors(s, left, dst, b[:n], nil, a[0])
	}
	return 0
}
