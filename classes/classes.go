// Package classes makes predictors of classes unique. What a softmax takes is known up to
// a function that all classes have in common: adding one to every logit changes no
// probability, but would change the terms of every class. So predictors are centred over
// the classes in each row, or taken as differences to a reference class; of two classes
// there is one predictor, the log odds.
//
// Centred predictors of K classes are L eta with L = I - 11'/K, applied to coefficients,
// intercepts and deep parts alike: predictors plus their row's mean are the network's own.
// Their total variance treats classes alike,
//
//	sum_(i<j) Var(eta_i - eta_j) = K sum_k Var(eta_k - mean of eta),
//
// which differences to one class do not.
//
// Which class is the reference changes what is shown and not which smoothing parameters are chosen.
// Raw logits are found where their tensor is named as the predictor.
package classes

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// Head is the predictors that one softmax takes.
type Head struct {
	Name       string   // to tell predictors of several heads apart: that of the output, say
	Predictors []int    // of the model, one for each class: two at least
	Classes    []string // their names, in the same order, no two equal
}

// Model is a model whose classes are unique. It is immutable, and safe for concurrent use
// if the one that it wraps is.
type Model struct {
	of    decompose.Model
	k     int // its predictors
	heads []*head
	rows  []row // the predictors
	taps  map[string]int
	raw   map[string]int // the wrapped model's
	joins []*join
	pool  scratch
}

// Tensors are the wrapped model's.
func (m *Model) Tensors() map[string]int { return decompose.TensorsOf(m.of) }

// head is a Head and what it became.
type head struct {
	Head
	reference int   // place of the reference class among Classes; -1: centred
	others    []int // places of the other classes
	made      []int // their predictors of Model
}

// row is a predictor: a mixture of those of the wrapped model.
type row struct {
	name   string
	head   *head // nil: predictor from as it is
	from   int   // the class's own predictor
	blocks []decompose.Block
}

// New wraps m, whose heads these are. reference names the class that others are compared
// with, in the heads that have it; "": predictors are centred. Predictors of no head stay
// as they are. Blocks of predictors of one head become blocks of all of them: terms by
// their names, learned bases of one name side by side.
//
// Errors: a head that is none, a reference that no head has, terms of one name and
// different bases, constraints or penalties.
func New(m decompose.Model, heads []Head, reference string) (*Model, error) {
	own := &Model{of: m, k: len(m.Predictors()), taps: map[string]int{}, raw: m.Taps()}
	at := make([]*head, len(m.Predictors()))
	known := false
	var names []string
	for _, h := range heads {
		if err := h.check(at); err != nil {
			return nil, err
		}
		made := &head{Head: h, reference: slices.Index(h.Classes, reference)}
		if made.reference < 0 && len(h.Classes) == 2 {
			made.reference = 0
		} else {
			known = known || made.reference >= 0
		}
		own.heads = append(own.heads, made)
		for _, k := range h.Predictors {
			at[k] = made
		}
		names = append(names, h.Classes...)
	}
	if reference != "" && !known {
		return nil, fmt.Errorf("classes: no class %q to be the reference: the classes are %q", reference, names)
	}
	own.list(at)
	return own, own.makeBlocks()
}

func (h Head) check(at []*head) error {
	sorted := slices.Compact(slices.Sorted(slices.Values(h.Classes)))
	switch {
	case len(h.Predictors) < 2:
		return fmt.Errorf("classes: the softmax of %q has %d classes: the probability of one is 1 whatever its predictor is, so there is nothing to decompose", h.Name, len(h.Predictors))
	case len(h.Classes) != len(h.Predictors) || len(sorted) != len(h.Classes):
		return fmt.Errorf("classes: %q has %d predictors and classes %q: each needs a name of its own", h.Name, len(h.Predictors), h.Classes)
	}
	for _, k := range h.Predictors {
		if k < 0 || k >= len(at) || at[k] != nil {
			return fmt.Errorf("classes: predictor %d of %q is not there, or of another softmax", k, h.Name)
		}
	}
	if again := slices.Compact(slices.Sorted(slices.Values(h.Predictors))); len(again) != len(h.Predictors) {
		return fmt.Errorf("classes: %q has a predictor twice: %d", h.Name, h.Predictors)
	}
	return nil
}

// list makes the predictors, those of a head where its first one was.
func (m *Model) list(at []*head) {
	for k, name := range m.of.Predictors() {
		h := at[k]
		switch {
		case h == nil:
			m.rows = append(m.rows, row{name: name, from: k})
		case len(h.made) == 0:
			for c, from := range h.Predictors {
				if c != h.reference {
					h.others, h.made = append(h.others, c), append(h.made, len(m.rows))
					m.rows = append(m.rows, row{name: h.Classes[c], head: h, from: from})
				}
			}
		}
	}
	if len(m.rows) == 1 {
		m.rows[0].name = "eta"
	}
	count := map[string]int{}
	for _, r := range m.rows {
		count[r.name]++
	}
	for i := range m.rows {
		if r := &m.rows[i]; count[r.name] > 1 && r.head != nil {
			r.name = r.head.Name + "/" + r.name
		}
	}
}

// Predictors names the classes, but the references; "eta" if there is one predictor.
func (m *Model) Predictors() []string {
	var names []string
	for _, r := range m.rows {
		names = append(names, r.name)
	}
	return names
}

// Columns are the wrapped model's.
func (m *Model) Columns() []string { return m.of.Columns() }

// Intercept is the mixture of the wrapped model's.
func (m *Model) Intercept(k int) float64 {
	r := m.rows[k]
	return r.mixed(m.of.Intercept)
}

// Blocks are the terms of predictor k, of the classes' coefficients the mixture.
func (m *Model) Blocks(k int) []decompose.Block { return slices.Clone(m.rows[k].blocks) }

// mixed is the row's mixture of what v says of the wrapped model's predictors.
func (r row) mixed(v func(k int) float64) float64 {
	switch {
	case r.head == nil:
		return v(r.from)
	case r.head.reference >= 0:
		return v(r.from) - v(r.head.Predictors[r.head.reference])
	}
	mean := 0.0
	for _, k := range r.head.Predictors {
		mean += v(k)
	}
	return v(r.from) - mean/float64(len(r.head.Predictors))
}

// Joined names, for each tap that is bases of the wrapped model side by side, their taps.
func (m *Model) Joined() map[string][]string {
	of := map[string][]string{}
	for _, j := range m.joins {
		of[j.tap.Tensor] = j.tensors()
	}
	return of
}

// LogOdds reports whether predictor k is the log odds of one of two classes.
func (m *Model) LogOdds(k int) bool { return m.rows[k].head != nil && len(m.rows[k].head.Classes) == 2 }

// Mixture says how predictor k is made of the wrapped model's: a number for each of these.
func (m *Model) Mixture(k int) []float64 {
	mix := make([]float64, len(m.of.Predictors()))
	for l := range mix {
		mix[l] = m.rows[k].mixed(func(at int) float64 {
			if at == l {
				return 1
			}
			return 0
		})
	}
	return mix
}

// Sharing is what belongs into decompose.Options.Shared: for each head of more than two
// classes one lambda for all of them, chosen for the centred ones whatever the reference,
// and the contrast that makes them unique.
func (m *Model) Sharing() []decompose.Sharing {
	var sets []decompose.Sharing
	for _, h := range m.heads {
		k := len(h.Classes)
		if k < 3 {
			continue
		}
		s := decompose.Sharing{Independent: k - 1, Uniqueness: decompose.ClassContrast("")}
		for _, i := range h.made {
			s.Predictors = append(s.Predictors, m.rows[i].name)
		}
		if h.reference >= 0 {
			s.Uniqueness = decompose.ClassContrast(h.Classes[h.reference])
			s.By = h.centring()
		}
		sets = append(sets, s)
	}
	return sets
}

// centring makes centred predictors of the differences to the reference, whose own
// difference is 0.
func (h *head) centring() *mat.Dense {
	k := len(h.Classes)
	l := mat.NewDense(k, k-1, nil)
	for i := range k {
		for j, c := range h.others {
			l.Set(i, j, -1/float64(k))
			if c == i {
				l.Set(i, j, 1-1/float64(k))
			}
		}
	}
	return l
}
