package structure

import "math"

// condition is x > bound, or, if missing, that x is NaN; undefined: it may be where all columns hold numbers.
type condition struct {
	x         form
	bound     float64
	missing   bool
	undefined bool
	negated   bool
}

// choose is the form of Where(c, yes, no): either of both if they are equal, or softplus where
// it is replaced by its asymptote once float cannot tell them apart; a choice by
// missing values is the choice of the numbers, unless numbers lead to it, too, and what is chosen then is none of x.
// ok is false if it is no form.
func choose(c condition, yes, no form) (form, bool) {
	if c.negated {
		yes, no = no, yes
	}
	if c.missing {
		return no, !c.undefined || within(yes, c.x)
	}
	if equal(yes, no) {
		return yes, true
	}
	if c.bound == 0 { // |x| is x on one side, and -x on the other
		if y, n := resolveAbs(yes, c.x), resolveAbs(no, c.x.times(-1)); equal(y, n) {
			return y, true
		}
	}
	if c.above(no, yes) {
		return no, true
	}
	// the same the other way round: yes where -x < -bound
	if (condition{x: c.x.times(-1), bound: -c.bound}).above(yes, no) {
		return yes, true
	}
	return form{}, false
}

// within reports whether f is x or a function of it.
func within(f, x form) bool {
	return !f.constant() && !x.constant() && (sameCore(f.core, x.core) || f.core.fn != "" && within(f.core.arg, x))
}

// above reports whether f is a softplus whose asymptote is line, and x > bound is so far
// out that softplus(z) - z < exp(-z) is less than the rounding of z in float.
func (c condition) above(f, line form) bool {
	if f.constant() || f.core.fn != "softplus" {
		return false
	}
	z := f.core.arg
	if f.scale <= 0 || !equal(line, z.times(f.scale).plus(f.shift)) || !sameCore(z.core, c.x.core) || z.scale/c.x.scale <= 0 {
		return false
	}
	k := z.scale / c.x.scale
	least := k*(c.bound-c.x.shift) + z.shift // of z
	return least > 0 && math.Exp(-least) <= least*0x1p-23
}

// resolveAbs writes x for |x| in f, where x is not negative.
func resolveAbs(f, x form) form {
	if f.constant() || f.core.fn == "" {
		return f
	}
	if f.core.fn == "abs" && (equal(f.core.arg, x) || equal(f.core.arg, x.times(-1))) {
		return x.times(f.scale).plus(f.shift)
	}
	inside := resolveAbs(f.core.arg, x)
	if f.core.fn == "clip" {
		return form{f.scale, f.shift, &core{fn: "clip", arg: inside, lo: f.core.lo, hi: f.core.hi}}
	}
	return function(f.core.fn, inside).times(f.scale).plus(f.shift)
}
