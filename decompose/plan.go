package decompose

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// plan is a model's structured part with every distinct term once. Bases are in
// order of first appearance; terms that only serve as a base of others (means
// and norms) follow and belong to no predictor.
type plan struct {
	terms      []Term
	index      map[Term]int
	offset     []int // first raw column of each term
	p          int   // raw columns
	numbers    int   // a row of the tensors that the model reads
	predictors []planned
	layout     moments.Layout
	known      map[Term]identity // of terms that were identified before; identify adds all
	joined     *Members          // whose networks' deep parts are further responses; nil: none
	deep       []int             // term indices of Options.DeepFeatures
}

// planned is one predictor: its blocks ordered by term index.
type planned struct {
	name      string
	intercept float64
	blocks    []Block
	at        []int // term index of each block
}

// checkPartNames refuses terms that are called like another part of a row, or its standard error: their columns of
// contributions, or outputs of a service, could not be told from those.
func checkPartNames(predictors []planned) error {
	whose := map[string]string{} // by the name of a part
	var faults []error
	for _, d := range predictors {
		prefix := ""
		if len(predictors) > 1 {
			prefix = d.name + "."
		}
		for _, part := range []string{"intercept", "unstructured", "eta"} {
			whose[prefix+part] = "the part " + part
		}
		for _, b := range d.blocks {
			whose[prefix+b.Term.Name()+".se"] = fmt.Sprintf("the standard error of %s", b.Term.Name())
		}
	}
	for _, d := range predictors {
		prefix := ""
		if len(predictors) > 1 {
			prefix = d.name + "."
		}
		for _, b := range d.blocks {
			if other := whose[prefix+b.Term.Name()]; other != "" {
				faults = append(faults, fmt.Errorf("decompose: predictor %q: the term %q is called like %s: give its column another name in the data, or make it no linear term", d.name, b.Term.Name(), other))
			}
		}
	}
	return errors.Join(faults...)
}

func newPlan(m Model, features ...*Tap) (*plan, error) {
	p := &plan{index: map[Term]int{}, numbers: tensorNumbers(m)}
	names := m.Predictors()
	if len(names) == 0 {
		return nil, errors.New("decompose: the model has no predictor")
	}
	var faults []error
	for k, name := range names {
		d := planned{name: name, intercept: m.Intercept(k), blocks: append([]Block(nil), m.Blocks(k)...)}
		seen := map[string]bool{}
		for _, b := range d.blocks {
			if err := checkBlock(b); err != nil {
				faults = append(faults, fmt.Errorf("decompose: predictor %q: %w", name, err))
				continue
			}
			if seen[b.Term.Name()] {
				faults = append(faults, fmt.Errorf("decompose: predictor %q has two terms named %q", name, b.Term.Name()))
			}
			seen[b.Term.Name()] = true
			p.add(b.Term)
		}
		p.predictors = append(p.predictors, d)
	}
	if err := errors.Join(append(faults, checkPartNames(p.predictors))...); err != nil {
		return nil, err
	}
	for k := range p.predictors {
		d := &p.predictors[k]
		sort.SliceStable(d.blocks, func(i, j int) bool { return p.index[d.blocks[i].Term] < p.index[d.blocks[j].Term] })
		for _, b := range d.blocks {
			d.at = append(d.at, p.index[b.Term])
		}
		p.layout.Predictors = append(p.layout.Predictors, d.at)
	}
	for _, d := range p.predictors {
		for _, b := range d.blocks {
			for _, base := range b.Base {
				p.add(base)
			}
			for _, norm := range b.Coordinates.norm {
				p.add(norm)
			}
		}
	}
	if err := p.beside(m, features); err != nil {
		return nil, err
	}
	for _, t := range p.terms {
		p.offset = append(p.offset, p.p)
		p.p += t.Dim()
		p.layout.Bases = append(p.layout.Bases, moments.Basis{Name: t.Name(), Dim: t.Dim()})
	}
	p.layout.Responses = len(names)
	if j, ok := m.(*Members); ok && j.shared {
		p.joined = j
		p.layout.Responses += len(j.members) * len(names)
	}
	return p, nil
}

// chunkRows is the number of rows of a chunk, fewer where the model reads tensors, such as pictures: a chunk is
// in memory as a whole. Learned terms that are Pieces are worth many. Features that are compared change no sum of the terms.
func (p *plan) chunkRows() int {
	rows := moments.ChunkRows(p.held())
	for _, t := range p.terms {
		if tap, ok := t.(*Tap); ok && tap.Pieces != nil {
			rows = max(rows, moments.PiecesRows)
		}
	}
	return data.TensorRows(p.numbers, rows)
}

// held is of how many columns all products of terms are as many numbers as are held: all, unless a term of many levels has most
// columns.
func (p *plan) held() int {
	columns := p.p
	for _, f := range p.deep {
		columns -= p.terms[f].Dim()
	}
	if !p.manyLevels() {
		return columns
	}
	return int(math.Sqrt(float64(columns)*float64(columns) - float64(p.betweenLevels())/8))
}

// tensorNumbers is how many numbers a row of the tensors has that m reads.
func tensorNumbers(m Model) (n int) {
	for _, width := range TensorsOf(m) {
		n += width
	}
	return n
}

func (p *plan) add(t Term) {
	if _, ok := p.index[t]; ok {
		return
	}
	p.index[t] = len(p.terms)
	p.terms = append(p.terms, t)
}

func checkBlock(b Block) error {
	if b.Term == nil {
		return errors.New("a block without a term")
	}
	name, d := b.Term.Name(), b.Term.Dim()
	for _, t := range append([]Term{b.Term}, b.Base...) {
		if !reflect.TypeOf(t).Comparable() { // equal terms are evaluated once
			return fmt.Errorf("term %q is a %T, which cannot be compared with other terms: use a pointer", name, t)
		}
	}
	if d < 1 {
		return fmt.Errorf("term %q has %d columns", name, d)
	}
	if b.Coef != nil && len(b.Coef) != d {
		return fmt.Errorf("term %q has %d coefficients for %d columns", name, len(b.Coef), d)
	}
	for i, v := range b.Coef {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("term %q: coefficient %d of the network is %g", name, i, v)
		}
	}
	free := d
	if m := b.Coordinates.toRaw; m != nil {
		var rows int
		if rows, free = m.Dims(); rows != d {
			return fmt.Errorf("term %q: its map is for %d columns, the basis has %d", name, rows, d)
		}
	}
	if b.isKept() && (!b.Coordinates.raw() || len(b.Penalty.S) > 0 || b.Select) {
		return fmt.Errorf("term %q is kept as it is: it takes no map, penalty or constraint", name)
	}
	for i, s := range b.Penalty.S {
		if linalg.IsNil(s) {
			return fmt.Errorf("term %q: penalty %d has no matrix", name, i)
		}
		if d := s.SymmetricDim(); d != free {
			return fmt.Errorf("term %q: penalty %d is for %d columns, the basis has %d", name, i, d, free)
		}
	}
	if c := b.Constraint; c.kind == orthogonalTo && len(c.normal) != d {
		return fmt.Errorf("term %q: the vector of its constraint has %d entries, the basis %d columns", name, len(c.normal), d)
	}
	if n := len(b.Penalty.Link); n != 0 && n != len(b.Penalty.S) {
		return fmt.Errorf("term %q: %d links for %d penalties", name, n, len(b.Penalty.S))
	}
	if n := len(b.Penalty.SP); n != 0 && n != len(b.Penalty.S) {
		return fmt.Errorf("term %q: %d smoothing parameters for %d penalties", name, n, len(b.Penalty.S))
	}
	for _, base := range b.Base {
		if base.Dim() != d {
			return fmt.Errorf("term %q: base %q has %d columns, want %d", name, base.Name(), base.Dim(), d)
		}
	}
	return nil
}

// columns are the data columns that the terms evaluate themselves; learned
// terms read taps instead.
func (p *plan) columns() []string {
	var c []string
	for _, t := range p.terms {
		if t.Kind() != Learned {
			c = union(c, t.Columns())
		}
	}
	return c
}

// evaluator turns the rows of a batch into design columns, one per term,
// reusing its buffers. Not safe for concurrent use: each worker has one.
type evaluator struct {
	plan   *plan
	dense  []*mat.Dense
	x      []design.Columns
	unseen *unseenTerms // nil: levels that a term does not know are errors
}

func (p *plan) evaluator() *evaluator {
	return &evaluator{plan: p, dense: make([]*mat.Dense, len(p.terms)), x: make([]design.Columns, len(p.terms))}
}

// eval returns the columns of every term at the rows of b, valid until the next
// call.
func (e *evaluator) eval(b *data.Batch) ([]design.Columns, error) {
	e.unseen.begin()
	for i, t := range e.plan.terms {
		err := e.term(i, t, b)
		if err != nil {
			err = e.unseen.again(t, b, err, func(b *data.Batch) error { return e.term(i, t, b) })
		}
		if err != nil {
			return nil, err
		}
	}
	return e.x, nil
}

// term evaluates the i-th term.
func (e *evaluator) term(i int, t Term, b *data.Batch) error {
	n := b.Rows()
	if s, ok := t.(SparseTerm); ok {
		x, err := evalSparse(s, e.x[i], b)
		if err != nil {
			return err
		}
		if r, d := x.Dims(); r != n || d != t.Dim() {
			return fmt.Errorf("decompose: term %q gave %d x %d values for %d rows and %d columns", t.Name(), r, d, n, t.Dim())
		}
		e.x[i] = x
		return nil
	}
	e.dense[i] = resize(e.dense[i], n, t.Dim())
	if err := t.Eval(e.dense[i], b); err != nil {
		return err
	}
	e.x[i] = design.Dense{Dense: e.dense[i]}
	return nil
}

func evalSparse(s SparseTerm, old design.Columns, b *data.Batch) (design.Columns, error) {
	if p, ok := s.(ProductTerm); ok {
		return p.EvalProduct(old, b)
	}
	if r, ok := s.(ReusingTerm); ok {
		return r.EvalSparseInto(old, b)
	}
	return s.EvalSparse(b)
}

// resize returns an n x d matrix, in m's memory if that is large enough; the empty
// matrix if n or d is 0.
func resize(m *mat.Dense, n, d int) *mat.Dense {
	if n == 0 || d == 0 {
		return &mat.Dense{}
	}
	if m != nil {
		raw := m.RawMatrix()
		switch {
		case raw.Rows == n && raw.Cols == d && raw.Stride == d:
			return m
		case cap(raw.Data) >= n*d:
			return mat.NewDense(n, d, raw.Data[:n*d])
		}
	}
	return mat.NewDense(n, d, nil)
}
