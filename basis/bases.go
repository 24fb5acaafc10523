package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// definition is what formulas and artifacts know of a basis.
type definition struct {
	bs string // its name, as in bs="tp"
	// takesOrder tells that the argument m has a meaning.
	takesOrder bool
	// cyclic tells that the argument period has a meaning.
	cyclic bool
	// of and surface make the basis from the arguments of s(): of one column, and of
	// several (or of one too, if of is nil). Either may be nil.
	of      func(a *smoothArgs) (Univariate, error)
	surface func(a *smoothArgs) (Multivariate, error)
	// decode reads back what the MarshalJSON of a basis of d columns wrote; nil if
	// SmoothTerm itself knows it.
	decode func(raw json.RawMessage, d int) (surface, error)
}

// definitions lists the bases of s(). A new one is a line here; see
// docs/extending.md.
func definitions() []definition {
	return []definition{
		{bs: "tp", takesOrder: true, of: univariateTP(false), surface: multivariateTP(false), decode: decodePlate},
		{bs: "ts", takesOrder: true, of: univariateTP(true), surface: multivariateTP(true), decode: decodePlate},
		{bs: "ps", takesOrder: true, of: func(a *smoothArgs) (Univariate, error) { return PS{K: a.k, M: a.m, Knots: a.knots}, nil }},
		{bs: "cr", of: func(a *smoothArgs) (Univariate, error) { return CR{K: a.k, Knots: a.knots}, nil }},
		{bs: "cs", of: func(a *smoothArgs) (Univariate, error) { return CR{K: a.k, Knots: a.knots, Shrink: true}, nil }},
		{bs: "cc", cyclic: true, of: func(a *smoothArgs) (Univariate, error) {
			period, knots := a.around()
			return CC{K: a.k, Period: period, Knots: knots}, nil
		}},
		{bs: "cp", takesOrder: true, cyclic: true, of: func(a *smoothArgs) (Univariate, error) {
			period, knots := a.around()
			return CP{K: a.k, M: a.m, Period: period, Knots: knots}, nil
		}},
		{bs: "bs", takesOrder: true, of: func(a *smoothArgs) (Univariate, error) { return BS{K: a.k, M: a.m, Knots: a.knots}, nil }},
		{bs: "rbf", surface: func(a *smoothArgs) (Multivariate, error) { return RBF{K: a.k, Knots: a.knots}, nil }, decode: decodeRBF},
	}
}

func definitionOf(bs string) (definition, bool) {
	for _, d := range definitions() {
		if d.bs == bs {
			return d, true
		}
	}
	return definition{}, false
}

// basisNames lists the bases of s().
func basisNames() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.bs)
	}
	return names
}

// haveBases names the bases in a sentence, haveSurfaces those of several columns.
func haveBases() string { return enumerate(basisNames()) }

func haveSurfaces() string {
	var names []string
	for _, d := range definitions() {
		if d.surface != nil {
			names = append(names, d.bs)
		}
	}
	return enumerate(names)
}

func enumerate(names []string) string {
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last])
}

func plateOf(a *smoothArgs, shrink bool) (TP, error) {
	t := TP{K: a.k, Shrink: shrink, Knots: a.knots}
	switch {
	case len(a.m) == 1 && a.m[0] == 0:
		return t, errors.New("m = 0: give the order of the derivatives in the penalty, as in m = 2")
	case len(a.m) == 1:
		t.M = a.m[0]
	case len(a.m) > 1:
		return t, fmt.Errorf("m has %d values: %s takes one, the order of the derivatives in the penalty", len(a.m), t.label())
	}
	return t, nil
}

func univariateTP(shrink bool) func(a *smoothArgs) (Univariate, error) {
	return func(a *smoothArgs) (Univariate, error) { return plateOf(a, shrink) }
}

func multivariateTP(shrink bool) func(a *smoothArgs) (Multivariate, error) {
	return func(a *smoothArgs) (Multivariate, error) { return plateOf(a, shrink) }
}
