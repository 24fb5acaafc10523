package kernel

// Number is what elementwise arithmetic runs on.
type Number interface{ float32 | float64 | int64 }

// Add sets dst = a + b; an operand of length 1 is repeated. dst may be a or b.
func Add[T Number](dst, a, b []T) {
	if len(a) < len(b) {
		a, b = b, a
	}
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
func Mul[T Number](dst, a, b []T) {
	if len(a) < len(b) {
		a, b = b, a
	}
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
func Sub[T Number](dst, a, b []T) {
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
func Div[T Float](dst, a, b []T) {
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

func fill[T Number](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}
