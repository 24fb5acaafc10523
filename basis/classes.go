package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/internal/base/spelling"
)

// class is what formulas and artifacts know of a smooth class, one of this package or of
// another.
type class struct {
	bs string // its name, as in bs="tp"
	// takesOrder tells that the argument m has a meaning, takesExtra that xt has one.
	takesOrder, takesExtra bool
	// cyclic tells that the argument period has a meaning.
	cyclic bool
	// univariate and multivariate make the basis from the arguments of s(): of one column,
	// and of several (or of one too, if univariate is nil). Either may be nil.
	univariate   func(a *Arguments) (Univariate, error)
	multivariate func(a *Arguments) (Multivariate, error)
	// decode reads back what the MarshalJSON of a basis of d columns wrote; nil if
	// SmoothTerm itself knows it.
	decode func(raw json.RawMessage, d int) (Evaluator, error)
}

// ownClasses lists the classes of this package. A new one is a line here; see
// docs/extending.md.
func ownClasses() []class {
	return []class{
		{bs: "tp", takesOrder: true, univariate: univariateTP(false), multivariate: multivariateTP(false), decode: decodeThinPlate},
		{bs: "ts", takesOrder: true, univariate: univariateTP(true), multivariate: multivariateTP(true), decode: decodeThinPlate},
		{bs: "ps", takesOrder: true, univariate: func(a *Arguments) (Univariate, error) { return PS{K: a.K, M: a.M, Knots: a.Knots}, nil }},
		{bs: "cr", univariate: func(a *Arguments) (Univariate, error) { return CR{K: a.K, Knots: a.Knots}, nil }},
		{bs: "cs", univariate: func(a *Arguments) (Univariate, error) { return CR{K: a.K, Knots: a.Knots, Shrink: true}, nil }},
		{bs: "cc", cyclic: true, univariate: func(a *Arguments) (Univariate, error) {
			period, knots := a.ends()
			return CC{K: a.K, Period: period, Knots: knots}, nil
		}},
		{bs: "cp", takesOrder: true, cyclic: true, univariate: func(a *Arguments) (Univariate, error) {
			period, knots := a.ends()
			return CP{K: a.K, M: a.M, Period: period, Knots: knots}, nil
		}},
		{bs: "bs", takesOrder: true, univariate: func(a *Arguments) (Univariate, error) {
			return BS{K: a.K, M: a.M, Knots: a.Knots, Quantiles: a.Quantiles}, nil
		}},
		{bs: "rbf", multivariate: func(a *Arguments) (Multivariate, error) { return RBF{K: a.K, Knots: a.Knots}, nil }, decode: decodeRBF},
	}
}

// undetermined stands for a number of penalties that only Build shows.
const undetermined = -1

// penaltiesOf is the number of penalties that b is known to have before its data.
func penaltiesOf(b Multivariate) int {
	switch b.(type) {
	case TP, RBF:
		return 1
	}
	return undetermined
}

// ownKnots: the knots are given, and the sample of the data only sets scales.
func ownKnots(b any) bool {
	switch b := b.(type) {
	case BS:
		return true // quantiles of a sample are as good
	case TP:
		return len(b.Knots) > 0
	case RBF:
		return len(b.Knots) > 0
	}
	return false
}

// termClasses are the names bs = "..." that Parse itself knows: the classes of this
// package, and those that are terms of their own.
func termClasses() []string { return append(ownNames(), "re", "fs") }

func ownNames() []string {
	var names []string
	for _, d := range ownClasses() {
		names = append(names, d.bs)
	}
	return names
}

// Classes are smooth classes of other packages by their names, next to this package's own,
// whose names they may not have. nil: none. Nothing here changes them.
type Classes map[string]Class

// check refuses classes that formulas could not name or artifacts not hold.
func (c Classes) check() error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		switch {
		case name == "" || !utf8.ValidString(name):
			return fmt.Errorf("basis: the name %q of a smooth class is empty or not UTF-8", name)
		case slices.Contains(termClasses(), name):
			return fmt.Errorf("basis: the smooth class %q is this package's own: give yours another name", name)
		case c[name].New == nil || c[name].Decode == nil:
			return fmt.Errorf("basis: the smooth class %q needs both New, for formulas, and Decode, for artifacts", name)
		}
	}
	return nil
}

// decodeEvaluator reads a basis of so many columns back.
func (c Classes) decodeEvaluator(bs string, spec json.RawMessage, columns int) (Evaluator, error) {
	d, ok := c.find(bs)
	switch known := ok && d.decode != nil; {
	case !known && columns == 1:
		return nil, fmt.Errorf("basis %q is not known to this version: a smooth class of another package is known to the Decode of its basis.Classes", bs)
	case !known:
		return nil, fmt.Errorf("basis %q of several columns is not known to this version", bs)
	}
	e, err := d.decode(spec, columns)
	if err == nil {
		err = checkEvaluator(e)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// find looks a class up, first among this package's own.
func (c Classes) find(bs string) (class, bool) {
	for _, d := range ownClasses() {
		if d.bs == bs {
			return d, true
		}
	}
	other, ok := c[bs]
	if !ok {
		return class{}, false
	}
	return class{bs: bs, takesOrder: true, takesExtra: true, cyclic: other.Cyclic, decode: other.Decode,
		multivariate: func(a *Arguments) (Multivariate, error) { return c.make(bs, a) }}, true
}

// make asks another package's class for the smooth of the arguments.
func (c Classes) make(bs string, a *Arguments) (Multivariate, error) {
	m, err := c[bs].New(a)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("the smooth class %q gives no smooth", bs)
	}
	if _, ok := c.find(m.Class()); !ok {
		return nil, fmt.Errorf("the smooth class %q gives a smooth that calls itself %q, by which artifacts could not be read", bs, m.Class())
	}
	return m, nil
}

// others are the names of other packages' classes, in order.
func (c Classes) others() []string { return slices.Sorted(maps.Keys(c)) }

// names are all classes of smooths; multivariates those of several columns.
func (c Classes) names() []string { return append(ownNames(), c.others()...) }

func (c Classes) multivariates() []string {
	var names []string
	for _, d := range ownClasses() {
		if d.multivariate != nil {
			names = append(names, d.bs)
		}
	}
	return append(names, c.others()...)
}

// known refuses a name that bs = "..." cannot have in s(), and suggests the nearest one.
func (c Classes) known(bs string) error {
	have := append(termClasses(), c.others()...)
	later := []string{"ad", "gp", "sos"}
	switch near := spelling.Nearest(bs, have); {
	case slices.Contains(have, bs):
		return nil
	case slices.Contains(later, bs):
		return fmt.Errorf("the basis %q is not there yet: there are %s", bs, enumerate(have))
	case near != "":
		return fmt.Errorf("unknown basis %q; did you mean %q? There are %s", bs, near, enumerate(have))
	}
	return fmt.Errorf("unknown basis %q: there are %s", bs, enumerate(have))
}

func enumerate(names []string) string {
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last])
}

// ends are the period and the knots of a cyclic basis: two knots are the period, as in
// mgcv.
func (a *Arguments) ends() (period, knots []float64) {
	if len(a.Knots) == 2 && len(a.Period) == 0 {
		return a.Knots, nil
	}
	return a.Period, a.Knots
}

func thinPlateOf(a *Arguments, shrink bool) (TP, error) {
	t := TP{K: a.K, Shrink: shrink, Knots: a.Knots}
	switch {
	case len(a.M) == 1 && a.M[0] == 0:
		return t, errors.New("m = 0: give the order of the derivatives in the penalty, as in m = 2")
	case len(a.M) == 1:
		t.M = a.M[0]
	case len(a.M) > 1:
		return t, fmt.Errorf("m has %d values: %s takes one, the order of the derivatives in the penalty", len(a.M), t.label())
	}
	return t, nil
}

func univariateTP(shrink bool) func(a *Arguments) (Univariate, error) {
	return func(a *Arguments) (Univariate, error) { return thinPlateOf(a, shrink) }
}

func multivariateTP(shrink bool) func(a *Arguments) (Multivariate, error) {
	return func(a *Arguments) (Multivariate, error) { return thinPlateOf(a, shrink) }
}
