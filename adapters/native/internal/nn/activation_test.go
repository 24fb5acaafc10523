package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// formula is an activation and its derivative at x, one number at a time.
func formula(f Function, top, x float64) (y, derivative float64) {
	logistic := 1 / (1 + math.Exp(-x))
	switch f {
	case Relu:
		return max(x, 0), step(x > 0)
	case ReluN:
		return min(max(x, 0), top), step(x > 0 && x < top)
	case Tanh:
		y = math.Tanh(x)
		return y, 1 - y*y
	case Sigmoid:
		return logistic, logistic * (1 - logistic)
	case Softplus:
		return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))), logistic
	case Gelu:
		phi := math.Erfc(-x/math.Sqrt2) / 2
		return x * phi, phi + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}
	return math.NaN(), math.NaN()
}

func step(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// TestActivationFormulas: vectors of an activation and of its derivative are those of its
// formula, of one number as of many, near 0 and far from it.
func TestActivationFormulas(t *testing.T) {
	t.Run("float32", func(t *testing.T) { checkFormulas[float32](t, 1<<24) })
	t.Run("float64", func(t *testing.T) { checkFormulas[float64](t, 1<<53) })
}

// checkFormulas compares to some units in the last place, of T's numbers up to digits.
func checkFormulas[T kernel.Float](t *testing.T, digits float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, f := range Functions() {
		for _, top := range []float64{1, 0.5, 6} {
			for _, n := range []int{1, 7, 1500} {
				a := &Activation[T]{Width: 1, F: f, N: top}
				size := kernel.UnitStride[T](n)
				x, dy, upper := kernel.Units[T](nil, 1, n), kernel.Units[T](nil, 1, n), make([]T, n)
				for i := range size {
					x[i] = T(rng.NormFloat64() * math.Exp(6*rng.Float64()-3))
					dy[i] = T(rng.NormFloat64())
				}
				copy(x, []T{0, T(top), -30, 200, -200, 1e-6, 1e10})
				copy(upper, dy)
				y := a.Forward(x, n, Mode{Train: true})
				dx := a.Backward(dy, n)
				for i, v := range x[:n] {
					wantY, d := formula(f, top, float64(v))
					// The formula's own error grows with the exponent of its exp.
					if off := math.Abs(float64(y[i]) - wantY); !(off <= (4+float64(v*v)*2)/digits*math.Abs(wantY)) && off > 1e-37 {
						t.Fatalf("%s, N = %g: at %v it is %v, not %v", f, top, v, y[i], wantY)
					}
					// What is small beside 1 is a difference of numbers near 1.
					if off := math.Abs(float64(dx[i]) - float64(upper[i])*d); !(off <= 6/digits*math.Abs(float64(upper[i]))) {
						t.Fatalf("%s, N = %g: at %v the gradient is %v, not %v", f, top, v, dx[i], float64(upper[i])*d)
					}
				}
			}
		}
	}
}
