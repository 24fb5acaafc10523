package structure

import "math"

// form is scale times core plus shift; without a core it is the constant shift. Response
// functions that exporters write as several nodes are read as forms, whose functions
// rewrite themselves by identities that hold for all numbers.
// Comparing values on probes would need no algebra, but would take for a softplus whatever differs
// from one between the probes.
type form struct {
	scale, shift float64
	core         *core
}

// core is an element of the graph, or a function of a form.
type core struct {
	fn     string // "": the element
	el     Element
	arg    form
	lo, hi float64 // of clip
}

func number(c float64) form { return form{shift: c} }

func element(el Element) form { return form{1, 0, &core{el: el}} }

func apply(fn string, arg form) form { return form{1, 0, &core{fn: fn, arg: arg}} }

func (f form) constant() bool { return f.core == nil }

// is reports whether f is scale times that function plus shift.
func (f form) is(fn string, scale, shift float64) bool {
	return f.core != nil && f.core.fn == fn && f.scale == scale && f.shift == shift
}

func (f form) times(w float64) form {
	if w == 0 {
		return number(0)
	}
	return form{f.scale * w, f.shift * w, f.core}
}

func (f form) plus(c float64) form { return form{f.scale, f.shift + c, f.core} }

// near allows for the rounding of constants that exporters compute: 1/beta, say.
func near(x, y float64) bool { return math.Abs(x-y) <= 1e-7*max(math.Abs(x), math.Abs(y)) }

func equal(f, g form) bool {
	return (f.constant() == g.constant()) && near(f.shift, g.shift) && (f.constant() || near(f.scale, g.scale) && sameCore(f.core, g.core))
}

func sameCore(a, b *core) bool {
	return a == b || a.fn == b.fn && a.el == b.el && a.lo == b.lo && a.hi == b.hi && (a.fn == "" || equal(a.arg, b.arg))
}

// sum is f + g; ok is false if it is no form.
func sum(f, g form) (form, bool) {
	switch {
	case f.constant():
		return g.plus(f.shift), true
	case g.constant():
		return f.plus(g.shift), true
	case sameCore(f.core, g.core):
		if s := f.scale + g.scale; s != 0 {
			return form{s, f.shift + g.shift, f.core}, true
		}
		return number(f.shift + g.shift), true
	}
	for _, p := range [][2]form{{f, g}, {g, f}} {
		if h, ok := addSoftplus(p[0], p[1]); ok {
			return h, true
		}
	}
	return form{}, false
}

// addSoftplus: max(x, 0) + softplus(-|x|) and x + softplus(-x) are softplus(x).
func addSoftplus(f, g form) (form, bool) {
	if g.core.fn != "softplus" {
		return form{}, false
	}
	s, arg := g.scale, g.core.arg
	if f.core.fn == "relu" && near(f.scale, s) && arg.is("abs", -1, 0) {
		x, inside := f.core.arg, arg.core.arg
		if equal(x, inside) || equal(x.times(-1), inside) {
			return apply("softplus", x).times(s).plus(f.shift + g.shift), true
		}
	}
	x := arg.times(-1) // f may be s x
	if x.core != nil && sameCore(f.core, x.core) && near(f.scale, s*x.scale) {
		return apply("softplus", x).times(s).plus(g.shift + f.shift - s*x.shift), true
	}
	return form{}, false
}

// product is f g; ok is false if it is no form.
func product(f, g form) (form, bool) {
	switch {
	case f.constant():
		return g.times(f.shift), true
	case g.constant():
		return f.times(g.shift), true
	}
	if f.core.fn == "sigmoid" {
		f, g = g, f
	}
	// exp(x) sigmoid(-x) = sigmoid(x)
	if f.core.fn == "exp" && f.shift == 0 && g.core.fn == "sigmoid" && g.shift == 0 && equal(f.core.arg, g.core.arg.times(-1)) {
		return apply("sigmoid", f.core.arg).times(f.scale * g.scale), true
	}
	return form{}, false
}

// quotient is f / g; ok is false if it is no form.
func quotient(f, g form) (form, bool) {
	if g.constant() {
		return f.times(1 / g.shift), g.shift != 0
	}
	r, ok := reciprocal(g)
	if !ok {
		return form{}, false
	}
	return product(f, r)
}

// reciprocal: 1/(1 + exp(x)) is sigmoid(-x), 1/exp(x) is exp(-x).
func reciprocal(f form) (form, bool) {
	switch {
	case f.constant():
		return number(1 / f.shift), f.shift != 0
	case f.is("exp", 1, 1):
		return apply("sigmoid", f.core.arg.times(-1)), true
	case f.is("exp", 1, 0):
		return apply("exp", f.core.arg.times(-1)), true
	}
	return form{}, false
}

// function applies one to a form, and finds what it is by a shorter name.
func function(fn string, x form) form {
	if x.constant() {
		return number(evaluate(fn, x.shift))
	}
	switch fn {
	case "exp":
		if x.is("softplus", -1, 0) { // exp(-softplus(y)) = sigmoid(-y)
			return apply("sigmoid", x.core.arg.times(-1))
		}
	case "log":
		return logarithm(x)
	case "abs":
		if x.scale < 0 {
			x = x.times(-1)
		}
	case "tanh":
		return function("sigmoid", x.times(2)).times(2).plus(-1)
	}
	return apply(fn, x)
}

func logarithm(x form) form {
	switch {
	case x.is("exp", 1, 1):
		return apply("softplus", x.core.arg)
	case x.is("exp", 1, 0):
		return x.core.arg
	case x.is("sigmoid", 1, 0):
		return apply("softplus", x.core.arg.times(-1)).times(-1)
	case x.is("sigmoid", -1, 1):
		return apply("softplus", x.core.arg).times(-1)
	}
	return apply("log", x)
}

func evaluate(fn string, x float64) float64 {
	switch fn {
	case "exp":
		return math.Exp(x)
	case "log":
		return math.Log(x)
	case "abs":
		return math.Abs(x)
	case "relu":
		return max(x, 0)
	case "tanh":
		return math.Tanh(x)
	case "sigmoid":
		return 1 / (1 + math.Exp(-x))
	case cloglog:
		return -math.Expm1(-math.Exp(x))
	case "softplus":
		return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	}
	return math.NaN()
}
