package decompose

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Member is one of several networks of one task.
type Member struct {
	Name  string // by which results and messages know it
	Model Model
}

// MembersFrom says how the networks of one task came to differ, and so what their spread means.
// Whatever reads a result reads that of the mean.
type MembersFrom string

const (
	// Seeds: they were trained on the same rows, from other starts or in another order of
	// rows. How far they differ is the randomness of training, not that of the data.
	Seeds MembersFrom = "seeds"
	// Resamples: each was trained by the same recipe on rows drawn with replacement, so
	// that they differ as networks do that were trained on other data of the same kind.
	Resamples MembersFrom = "resamples"
)

// Members are several networks of one task as one Model, their mean: every predictor,
// intercept and deep part is the mean of theirs. Decomposing it decomposes all of them
// (Result.Members): the coefficients that move are linear in the deep part, so those of
// the mean are the mean of theirs, with one choice of smoothing parameters for all. It is
// immutable and safe for concurrent use.
//
// Terms are matched by name. Where all networks have the same columns there is one X'WX
// with a response for each network. Other columns, as networks learn them, have products of
// their own for each network, and are a single tap of the mean (see Blocks).
type Members struct {
	members    []Member
	from       MembersFrom
	predictors []string
	columns    []string
	shared     bool        // the networks have the same columns in every predictor
	blocks     [][]Block   // of the mean, by predictor
	joints     []jointTap  // of terms whose columns differ between networks
	terms      [][][]Block // by network and predictor, in the order of blocks
	taps       map[string]int
	idle       sync.Pool // of *memberOutputs
}

// zetaOfEach is the tap with the deep parts of all networks: the first's by predictor, then the
// second's.
const zetaOfEach = "members/zeta"

// jointTap is a tensor with the columns of one term in every network, one after the other.
type jointTap struct {
	tensor    string
	predictor int
	term      int // among the predictor's
	width     int
}

// Join makes one model of networks with the same predictors and terms, two at least; it reads
// the columns of all. Blocks are to be complete: see With for each network, given the same blocks.
//
// Errors name the network and what it has that the first does not, or lacks.
func Join(members []Member, from MembersFrom) (*Members, error) {
	if len(members) < 2 {
		return nil, fmt.Errorf("decompose: %d networks are joined: two at least have a spread", len(members))
	}
	if from != Seeds && from != Resamples {
		return nil, fmt.Errorf("decompose: networks that differ by %q: it is %s or %s", from, Seeds, Resamples)
	}
	first := members[0].Model
	m := &Members{
		members: slices.Clone(members), from: from, predictors: slices.Clone(first.Predictors()), columns: columnsOf(members),
		shared: true, taps: map[string]int{zetaOfEach: len(members) * len(first.Predictors())},
	}
	var faults []error
	for _, o := range members[1:] {
		faults = append(faults, m.sameTask(o))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for _, o := range members {
		blocks, err := m.matched(o)
		faults = append(faults, err)
		m.terms = append(m.terms, blocks)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for k := range m.predictors {
		if err := m.joinTerms(k); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// columnsOf are the columns that any of the networks reads, in order.
func columnsOf(members []Member) (columns []string) {
	for _, m := range members {
		columns = union(columns, m.Model.Columns())
	}
	return columns
}

// Tensors are those that any of the networks reads.
func (m *Members) Tensors() map[string]int {
	all := map[string]int{}
	for _, o := range m.members {
		maps.Copy(all, TensorsOf(o.Model))
	}
	return all
}

// sameTask refuses a network with other predictors than the first one.
func (m *Members) sameTask(o Member) error {
	if have := o.Model.Predictors(); !slices.Equal(have, m.predictors) {
		return fmt.Errorf("decompose: network %q has the predictors %q, %q has %q: networks of one task have the same outputs", o.Name, have, m.members[0].Name, m.predictors)
	}
	return nil
}

// matched are the blocks of o in the order of the first network's.
func (m *Members) matched(o Member) ([][]Block, error) {
	var out [][]Block
	var faults []error
	for k, predictor := range m.predictors {
		own, want := o.Model.Blocks(k), m.members[0].Model.Blocks(k)
		var blocks []Block
		for _, b := range want {
			i := slices.IndexFunc(own, func(b2 Block) bool { return b2.Term.Name() == b.Term.Name() })
			switch {
			case i < 0:
				faults = append(faults, fmt.Errorf("decompose: predictor %q: network %q has no term %q, which %q has: networks that are compared have the same structure", predictor, o.Name, b.Term.Name(), m.members[0].Name))
				continue
			case !slices.Equal(own[i].Term.Columns(), b.Term.Columns()):
				faults = append(faults, fmt.Errorf("decompose: predictor %q: term %q is of the columns %q in network %q, of %q in %q", predictor, b.Term.Name(), own[i].Term.Columns(), o.Name, b.Term.Columns(), m.members[0].Name))
				continue
			}
			blocks = append(blocks, own[i])
		}
		for _, b := range own {
			if !slices.ContainsFunc(want, func(b2 Block) bool { return b2.Term.Name() == b.Term.Name() }) {
				faults = append(faults, fmt.Errorf("decompose: predictor %q: network %q has a term %q, which %q does not have: networks that are compared have the same structure", predictor, o.Name, b.Term.Name(), m.members[0].Name))
			}
		}
		out = append(out, blocks)
	}
	return out, errors.Join(faults...)
}

// joinTerms makes the mean's blocks of predictor k.
func (m *Members) joinTerms(k int) error {
	var blocks []Block
	for j := range m.terms[0][k] {
		each := make([]Block, len(m.members))
		for i := range m.members {
			each[i] = m.terms[i][k][j]
		}
		b := each[0]
		if sameBlocks(each) {
			b.Coef = meanCoef(each)
			blocks = append(blocks, b)
			continue
		}
		m.shared = false
		joint := jointTap{tensor: "members/" + m.predictors[k] + "/" + b.Term.Name(), predictor: k, term: j}
		var coef []float64
		for i, own := range each {
			joint.width += own.Term.Dim()
			part := make([]float64, own.Term.Dim())
			for c, v := range own.Coef {
				part[c] = v / float64(len(each))
			}
			coef = append(coef, part...)
			if own.isKept() != b.isKept() {
				return fmt.Errorf("decompose: predictor %q: term %q is kept as it is in one network and not in %q", m.predictors[k], b.Term.Name(), m.members[i].Name)
			}
		}
		tap := &jointTerm{Tap{Tensor: joint.tensor, Features: b.Term.Columns(), Width: joint.width}, b.Term.Name()}
		m.taps[joint.tensor] = joint.width
		m.joints = append(m.joints, joint)
		blocks = append(blocks, Block{Term: tap, Coef: coef})
	}
	m.blocks = append(m.blocks, blocks)
	return nil
}

// jointTerm is the tap of a term whose columns differ between networks, under its name.
type jointTerm struct {
	Tap
	name string
}

// Name is the term's own.
func (t *jointTerm) Name() string { return t.name }

// sameBlocks tells whether blocks of several networks differ in their coefficients at most.
func sameBlocks(each []Block) bool {
	if _, learned := each[0].Term.(*Tap); learned || each[0].Term.Kind() == Learned {
		return false // equal specs are tensors of different networks
	}
	var first []byte
	for _, b := range each[1:] {
		if b.Term == each[0].Term && b.Constraint.Equal(each[0].Constraint) {
			continue // of a formula: one term given to all
		}
		var err error
		if first == nil {
			if first, err = EncodeBlocks([][]Block{{each[0]}}); err != nil {
				return false
			}
		}
		if doc, err := EncodeBlocks([][]Block{{b}}); err != nil || !bytes.Equal(first, doc) {
			return false
		}
	}
	return true
}

// meanCoef is the mean of the networks' own coefficients; nil if none has any.
func meanCoef(each []Block) []float64 {
	var mean []float64
	for _, b := range each {
		for c, v := range b.Coef {
			if mean == nil {
				mean = make([]float64, len(b.Coef))
			}
			mean[c] += v / float64(len(each))
		}
	}
	return mean
}

// notApart refuses networks whose columns differ, each of which has products of its own.
func notApart(m Model) error {
	if j, ok := m.(*Members); ok && !j.shared {
		return errors.New("decompose: the networks have columns of their own, of which there are no common statistics: use Decompose")
	}
	return nil
}

// From says in what the networks differ.
func (m *Members) From() MembersFrom { return m.from }

// Networks are the members, in order.
func (m *Members) Networks() []Member { return slices.Clone(m.members) }

// Shared tells whether all networks have the same columns in every predictor, so that they
// are decomposed by one X'WX.
func (m *Members) Shared() bool { return m.shared }

// Predictors are those of each network.
func (m *Members) Predictors() []string { return m.predictors }

// Columns are those that the networks read.
func (m *Members) Columns() []string { return m.columns }

// Intercept is the mean of the networks'.
func (m *Members) Intercept(k int) float64 {
	var sum float64
	for _, o := range m.members {
		sum += o.Model.Intercept(k)
	}
	return sum / float64(len(m.members))
}

// Blocks are the terms of the mean. A term with the same columns in every network has the
// mean of their coefficients; of another one the columns of all networks stand side by
// side in a tap, its coefficients being theirs divided by the number of networks.
func (m *Members) Blocks(k int) []Block { return m.blocks[k] }

// Taps are the deep parts of the networks and the columns in which they differ.
func (m *Members) Taps() map[string]int { return m.taps }
