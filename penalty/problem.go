package penalty

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// given lists, for all penalties in term order, the lambdas, which are fixed,
// and which take part (a penalty fixed at zero does not).
func (p *Problem) given() (lambda []float64, fixed, live []bool) {
	for _, t := range p.Terms {
		for j := range t.S {
			sp := -1.0
			if t.SP != nil {
				sp = t.SP[j]
			}
			lambda = append(lambda, math.Max(sp, 0))
			fixed = append(fixed, sp >= 0)
			live = append(live, sp != 0)
		}
	}
	return lambda, fixed, live
}

// termOf names the term of penalty j.
func (p *Problem) termOf(j int) string {
	for _, t := range p.Terms {
		if j < len(t.S) {
			return t.Name
		}
		j -= len(t.S)
	}
	return ""
}

// validate reports every fault of the problem at once.
func (p *Problem) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("penalty: "+format, args...)) }
	dim := len(p.XZ)
	if p.Rows < 1 {
		fault("%d rows have positive weight: at least one is needed", p.Rows)
	}
	if !(p.SumW > 0) || !finite(p.SumW) || !finite(p.SumLogW) {
		fault("the sum of weights is %g and that of their logs %g: they must be finite, the first positive", p.SumW, p.SumLogW)
	}
	if !finite(p.ZZ) || p.ZZ < 0 {
		fault("z'Wz is %g: it must be finite and not negative", p.ZZ)
	}
	switch {
	case p.XX == nil && dim > 0:
		fault("X'WX is missing for %d columns", dim)
	case p.XX != nil && p.XX.SymmetricDim() != dim:
		fault("X'WX is %d x %[1]d but X'Wz has %d entries", p.XX.SymmetricDim(), dim)
	}
	if p.XMean != nil && len(p.XMean) != dim {
		fault("there are %d column means for %d columns", len(p.XMean), dim)
	}
	for i, v := range append(append([]float64{p.ZMean}, p.XMean...), p.XZ...) {
		if i -= 1 + len(p.XMean); i < 0 && !finite(v) {
			fault("a mean is %g", v)
			break
		} else if !finite(v) {
			fault("X'Wz of column %d is %g", i, v)
			break
		}
	}
	if len(faults) == 0 && dim > 0 {
		if i, j, v, ok := oddEntry(p.XX); ok {
			fault("X'WX of columns %d and %d is %g", i, j, v)
		}
		for i := range dim {
			if v := p.XX.At(i, i); v < 0 {
				fault("X'WX of column %d with itself is %g: it cannot be negative", i, v)
			}
		}
	}
	at := 0
	for _, t := range p.Terms {
		if t.Start != at || t.Dim < 0 {
			fault("term %q covers columns %d to %d: terms must follow each other without gaps, this one from %d", t.Name, t.Start, t.Start+t.Dim, at)
		}
		at = t.Start + t.Dim
		if t.SP != nil && len(t.SP) != len(t.S) {
			fault("term %q has %d smoothing parameters for %d penalties: give one for each, negative to have it chosen", t.Name, len(t.SP), len(t.S))
			continue
		}
		if t.Link != nil && len(t.Link) != len(t.S) {
			fault("term %q has %d links for %d penalties: give one for each, empty for none", t.Name, len(t.Link), len(t.S))
		} else if name, linked := t.linked(); linked {
			fault("term %q: the smoothing parameter linked as %q is to be chosen together with others, which is not there yet: fix it (sp=), or leave id= out", t.Name, name)
		}
		for j, s := range t.S {
			switch {
			case s == nil || s.SymmetricDim() != t.Dim:
				fault("term %q, penalty %d: the matrix is not %d x %[3]d", t.Name, j+1, t.Dim)
			case t.SP != nil && (math.IsNaN(t.SP[j]) || math.IsInf(t.SP[j], 0)):
				fault("term %q: smoothing parameter %d is %g: it must be finite; leave the curved part out for an infinite one", t.Name, j+1, t.SP[j])
			default:
				if i, k, v, ok := oddEntry(s); ok {
					fault("term %q, penalty %d: entry (%d,%d) is %g", t.Name, j+1, i, k, v)
				}
			}
		}
	}
	if at != dim {
		fault("the terms cover %d of %d columns", at, dim)
	}
	return errors.Join(faults...)
}

// linked names a link of a penalty whose lambda is to be chosen.
func (t *Term) linked() (name string, ok bool) {
	for j, name := range t.Link {
		if name != "" && (t.SP == nil || t.SP[j] < 0) {
			return name, true
		}
	}
	return "", false
}

// oddEntry finds an entry that is not finite.
func oddEntry(s *mat.SymDense) (int, int, float64, bool) {
	n := s.SymmetricDim()
	for i := range n {
		for j := i; j < n; j++ {
			if v := s.At(i, j); !finite(v) {
				return i, j, v, true
			}
		}
	}
	return 0, 0, 0, false
}
