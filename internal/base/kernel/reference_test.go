package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The functions in 256 bits, for arguments that are float64.

const precision = 256

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func plus(x, y *big.Float) *big.Float  { return number(0).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return number(0).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return number(0).Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return number(0).Quo(x, y) }

// constants are log 2 and pi, to 256 bits.
func constants() (ln2, pi *big.Float) {
	ln2 = logOnePlus(number(1))
	// Machin: pi/4 = 4 atan(1/5) - atan(1/239).
	atan := func(n float64) *big.Float {
		sum, term := number(0), over(number(1), number(n))
		for k := 1; k < 250; k += 2 {
			sum.Add(sum, over(term, number(float64(k))))
			term = over(term, number(-n*n))
		}
		return sum
	}
	return ln2, minus(times(number(16), atan(5)), times(number(4), atan(239)))
}

// logOnePlus is log(1+e) = 2 atanh(e/(2+e)), 0 <= e <= 1.
func logOnePlus(e *big.Float) *big.Float {
	s := over(e, plus(number(2), e))
	square, sum, term := times(s, s), number(0), plus(s, s)
	for k := 1; k < 180; k += 2 {
		sum.Add(sum, over(term, number(float64(k))))
		term = times(term, square)
	}
	return sum
}

// exact has functions in 256 bits.
type exact struct{ ln2, pi *big.Float }

// exp by halving its argument to below 2^-16 and Taylor's series; expm1 alike.
func (c exact) exp(x *big.Float) *big.Float {
	n, _ := over(x, c.ln2).Int64()
	if n < -1<<20 || n > 1<<20 {
		n = min(max(n, -1<<20), 1<<20)
		x = times(c.ln2, number(float64(n)))
	}
	r := minus(x, times(c.ln2, number(float64(n))))
	y := plus(number(1), c.expm1Near0(r))
	return number(0).SetMantExp(y, int(n))
}

func (c exact) expm1Near0(r *big.Float) *big.Float {
	const halvings = 16
	sum, term := number(0), number(0).SetMantExp(r, -halvings)
	step := term
	for k := 2.0; k < 20; k++ {
		sum.Add(sum, term)
		term = over(times(term, step), number(k))
	}
	for range halvings { // e^2r - 1 = e (e + 2), e = e^r - 1
		sum = times(sum, plus(sum, number(2)))
	}
	return sum
}

// erfc of x >= 0.
func (c exact) erfc(x *big.Float) *big.Float {
	root := number(0).Sqrt(c.pi)
	square := times(x, x)
	if v, _ := x.Float64(); v > 5 {
		// Laplace's continued fraction.
		y := x
		for k := 200.0; k > 0; k-- {
			y = plus(x, over(number(k/2), y))
		}
		return over(c.exp(minus(number(0), square)), times(root, y))
	}
	sum, term := number(0), x
	for k := 1.0; k < 300; k++ {
		sum.Add(sum, term)
		term = over(times(term, plus(square, square)), number(2*k+1))
	}
	erf := over(times(times(number(2), sum), c.exp(minus(number(0), square))), root)
	return minus(number(1), erf)
}

func (c exact) logistic(x *big.Float) *big.Float {
	return over(number(1), plus(number(1), c.exp(minus(number(0), x))))
}

// functions by name; x is not 0.
func (c exact) functions() map[string]func(x *big.Float) *big.Float {
	gelu := func(x *big.Float) *big.Float {
		tail := over(c.erfc(over(number(0).Abs(x), number(0).Sqrt(number(2)))), number(2))
		if x.Sign() > 0 {
			tail = minus(number(1), tail)
		}
		return times(x, tail)
	}
	expm1 := func(x *big.Float) *big.Float {
		if v, _ := x.Float64(); math.Abs(v) < 1 {
			return c.expm1Near0(x)
		}
		return minus(c.exp(x), number(1))
	}
	return map[string]func(x *big.Float) *big.Float{
		"Exp": c.exp, "Sigmoid": c.logistic, "Gelu": gelu,
		"SiLU": func(x *big.Float) *big.Float { return times(x, c.logistic(x)) },
		"Tanh": func(x *big.Float) *big.Float {
			e := expm1(times(number(2), number(0).Abs(x)))
			y := over(e, plus(e, number(2)))
			if x.Sign() < 0 {
				y.Neg(y)
			}
			return y
		},
		"Softplus": func(x *big.Float) *big.Float {
			y := logOnePlus(c.exp(minus(number(0), number(0).Abs(x))))
			if x.Sign() > 0 {
				y = plus(x, y)
			}
			return y
		},
		"Elu": func(x *big.Float) *big.Float {
			if x.Sign() > 0 {
				return x
			}
			return expm1(x)
		},
		"Erf": func(x *big.Float) *big.Float {
			y := minus(number(1), c.erfc(number(0).Abs(x)))
			if x.Sign() < 0 {
				y.Neg(y)
			}
			return y
		},
		"XLogX": func(x *big.Float) *big.Float {
			m := number(0)
			e := x.MantExp(m) - 1 // x = 2m 2^e
			return times(x, plus(logOnePlus(minus(plus(m, m), number(1))), times(c.ln2, number(float64(e)))))
		},
		"GeluTanh": func(x *big.Float) *big.Float {
			cube := times(number(0.044715), times(x, times(x, x)))
			cube = times(cube, over(exactly("0.044715"), number(0.044715)))
			v := times(number(0).Sqrt(over(number(8), c.pi)), plus(x, cube))
			return times(x, c.logistic(v))
		},
	}
}

func exactly(digits string) *big.Float {
	x, _, _ := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	return x
}

// TestFloat64Accuracy: no float64 result is off by more than 2 units in the last place.
func TestFloat64Accuracy(t *testing.T) {
	s := best()
	if s == plain {
		t.Skip("no assembly on this machine")
	}
	var c exact
	c.ln2, c.pi = constants()
	many := 2500
	if testing.Short() {
		many = 300
	}
	for name, want := range c.functions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(6, 7))
			x, y := make([]float64, many), make([]float64, many)
			for i := range x {
				switch rng.IntN(4) {
				case 0:
					x[i] = 4 * rng.NormFloat64()
				case 1:
					x[i] = 1500 * (rng.Float64() - 0.5)
				case 2:
					x[i] = math.Ldexp(rng.Float64()-0.5, -rng.IntN(70))
				default:
					x[i] = 90 * (rng.Float64() - 0.5)
				}
				if name == "XLogX" { // of positive numbers, of all magnitudes, and next to 1
					if x[i] = math.Abs(x[i]); rng.IntN(2) == 0 {
						x[i] = math.Ldexp(1+x[i], rng.IntN(2)*(rng.IntN(2040)-1070))
					}
				}
			}
			unary[float64]()[name](s, y, x)
			worst, at := 0.0, 0.0
			for i, v := range x {
				if e := off64(y[i], want(number(v))); e > worst {
					worst, at = e, v
				}
			}
			t.Logf("%.3f ulp at %v", worst, at)
			if worst > 2 {
				z := []float64{at}
				unary[float64]()[name](s, z, z)
				w, _ := want(number(at)).Float64()
				t.Errorf("%s(%v) is %v, want %v: %.3f ulp off", name, at, z[0], w, worst)
			}
		})
	}
}

// off64 is the distance of y from z in units of the last place of a float64 there.
func off64(y float64, z *big.Float) float64 {
	near, _ := z.Float64()
	if y == near && (near == 0 || math.IsInf(near, 0)) {
		if math.Signbit(y) != z.Signbit() {
			return math.Inf(1)
		}
		return 0
	}
	if math.IsInf(y, 0) || y != y {
		return math.Inf(1)
	}
	a := math.Min(math.Abs(near), math.MaxFloat64)
	unit := a - math.Nextafter(a, 0)
	if a < math.MaxFloat64 {
		unit = math.Nextafter(a, math.Inf(1)) - a
	}
	d, _ := over(minus(number(y), z), number(unit)).Float64()
	return math.Abs(d)
}
