package penalty

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// responses are z and the others, as one list.
func (p *Problem) responses() []Response {
	first := Response{XZ: p.XZ, ZZ: p.ZZ, ZMean: p.ZMean}
	if p.Factor != nil {
		first.Y = mat.Col(nil, len(p.XZ), p.Factor)
	}
	return append([]Response{first}, p.Others...)
}

// many is X'WX where that is given for columns of many levels; else nil.
func (p *Problem) many() *linalg.Structured {
	many, _ := p.XX.(*linalg.Structured)
	return many
}

// dense is X'WX with all of its numbers; nil of no columns.
func (p *Problem) dense() *mat.SymDense {
	if p.XX == nil {
		return nil
	}
	return linalg.Dense(p.XX)
}

// independent is how many of the responses are independent of each other.
func (p *Problem) independent() float64 {
	if p.Independent == 0 {
		return float64(1 + len(p.Others))
	}
	return p.Independent
}

// given lists, for all penalties in term order, the lambdas, which are fixed,
// and which take part (a penalty fixed at zero does not).
func (p *Problem) given() (lambda []float64, fixed, live []bool) {
	set := p.links()
	for _, t := range p.Terms {
		for j := range t.S {
			sp := -1.0
			if t.SP != nil {
				sp = t.SP[j]
			}
			lambda, fixed = append(lambda, sp), append(fixed, sp >= 0)
		}
	}
	for j, f := range fixed {
		if first := set[j]; f && !fixed[first] {
			lambda[first], fixed[first] = lambda[j], true
		}
	}
	for j, first := range set {
		lambda[j], fixed[j] = math.Max(lambda[first], 0), fixed[first]
		live = append(live, !fixed[j] || lambda[j] > 0)
	}
	return lambda, fixed, live
}

// links gives for every penalty, in term order, the first with the same lambda:
// itself, if it is not linked.
func (p *Problem) links() []int {
	var set []int
	named := make(map[string]int)
	for _, t := range p.Terms {
		for j := range t.S {
			first := len(set)
			if t.Link != nil && t.Link[j] != "" {
				if i, ok := named[t.Link[j]]; ok {
					first = i
				} else {
					named[t.Link[j]] = first
				}
			}
			set = append(set, first)
		}
	}
	return set
}

// linkFaults finds sets whose given smoothing parameters differ.
func (p *Problem) linkFaults() error {
	given := make(map[string]float64)
	for _, t := range p.Terms {
		for j, name := range t.Link {
			if name == "" || t.SP == nil || t.SP[j] < 0 {
				continue
			}
			if other, ok := given[name]; ok && other != t.SP[j] {
				return fmt.Errorf("penalty: term %q: its smoothing parameter %g is linked as %q to one of %g: linked ones are equal, give one of them", t.Name, t.SP[j], name, other)
			}
			given[name] = t.SP[j]
		}
	}
	return nil
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
		if i, j, ok := linalg.FiniteSym(p.XX); !ok {
			fault("X'WX of columns %d and %d is %g", i, j, p.XX.At(i, j))
		}
		for i := range dim {
			if v := p.XX.At(i, i); v < 0 {
				fault("X'WX of column %d with itself is %g: it cannot be negative", i, v)
			}
		}
	}
	p.factorFaults(fault)
	p.otherFaults(fault)
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
			continue
		}
		if math.IsNaN(t.DF) || math.IsInf(t.DF, 0) || t.DF < 0 {
			fault("term %q: %g degrees of freedom: the target must be positive and finite, or 0 for none", t.Name, t.DF)
		}
		for j, s := range t.S {
			switch {
			case linalg.IsNil(s) || s.SymmetricDim() != t.Dim:
				fault("term %q, penalty %d: the matrix is not %d x %[3]d", t.Name, j+1, t.Dim)
			case t.SP != nil && (math.IsNaN(t.SP[j]) || math.IsInf(t.SP[j], 0)):
				fault("term %q: smoothing parameter %d is %g: it must be finite; leave the curved part out for an infinite one", t.Name, j+1, t.SP[j])
			default:
				if i, k, v, ok := nonFiniteEntry(s); ok {
					fault("term %q, penalty %d: entry (%d,%d) is %g", t.Name, j+1, i, k, v)
				}
			}
		}
	}
	if at != dim {
		fault("the terms cover %d of %d columns", at, dim)
	}
	if len(faults) == 0 {
		return p.linkFaults()
	}
	return errors.Join(faults...)
}

// otherFaults looks at the responses beside z.
func (p *Problem) otherFaults(fault func(format string, args ...any)) {
	if n := p.independent(); !(n > 0) || n > float64(1+len(p.Others)) {
		fault("%g of %d responses are independent: the number must be positive, and no larger than that of all", n, 1+len(p.Others))
	}
	rows := 0
	if p.Factor != nil {
		rows, _ = p.Factor.Dims()
	}
	for i, r := range p.Others {
		switch {
		case len(r.XZ) != len(p.XZ) || len(r.Y) != rows:
			fault("response %d has %d products and %d rows beside the factor: there are %d columns and %d rows", i+2, len(r.XZ), len(r.Y), len(p.XZ), rows)
		case !finite(r.ZZ) || r.ZZ < 0 || !finite(r.ZMean) || !allFinite(r.XZ) || !allFinite(r.Y):
			fault("response %d: a sum or value is not finite, or z'Wz is below 0", i+2)
		}
	}
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if !finite(v) {
			return false
		}
	}
	return true
}

func (p *Problem) factorFaults(fault func(format string, args ...any)) {
	if p.Factor == nil {
		return
	}
	m, width := p.Factor.Dims()
	if want := len(p.XZ) + 1; width != want || m < want {
		fault("the factor is %d x %d: it must have %d columns, [G, y], and at least %[3]d rows", m, width, want)
		return
	}
	for i := range m {
		for j, v := range p.Factor.RawRowView(i) {
			if !finite(v) {
				fault("entry (%d,%d) of the factor is %g", i, j, v)
				return
			}
		}
	}
}

// nonFiniteEntry finds an entry that is not finite.
func nonFiniteEntry(s mat.Symmetric) (int, int, float64, bool) {
	if diag, ok := s.(*mat.DiagDense); ok {
		for i := range diag.Diag() {
			if v := diag.At(i, i); !finite(v) {
				return i, i, v, true
			}
		}
		return 0, 0, 0, false
	}
	raw := linalg.Dense(s).RawSymmetric()
	for i := range raw.N {
		for j, v := range raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N] {
			if v-v != 0 {
				return i, i + j, v, true
			}
		}
	}
	return 0, 0, 0, false
}
