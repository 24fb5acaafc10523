package decompose_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// This file moves what must not matter to a term that is called identified: how levels
// are called, the order of columns, terms and rows, units, contrasts, and how the network
// spells one and the same function. verdicts_test.go has the problems.

// problem is a network, rows and terms, and what the terms' verdicts have to be.
type problem struct {
	name    string
	rows    *frame
	model   decompose.Model // as the rows are
	formula string          // of terms beside the model's own; "": none
	options decompose.Options
	blocks  func(blocks []decompose.Block) []decompose.Block // changes those of the formula; nil: does not
	moves   []move                                           // beside those for every problem
	skip    []string                                         // names of moves that change the question here
	// want are verdicts by the name of the term; those that are not named are identified.
	want map[string]decompose.Verdict
	// moving are terms that some move does move: their verdict is no idle caution.
	moving []string
	why    map[string]string // a part of the reason
	// tolerance of a term that does not move, of the predictor's sd. 0: 1e-6, the rounding
	// error of curves with columns far from orthogonal.
	tolerance float64
	// still: no term moves, whatever its verdict, but by a move to another convention.
	still bool
}

// frame is rows by column.
type frame struct {
	order  []string
	number map[string][]float64
	text   map[string][]string
	n      int
}

func newFrame(n int) *frame {
	return &frame{number: map[string][]float64{}, text: map[string][]string{}, n: n}
}

func (f *frame) with(name string, v []float64) *frame {
	f.order, f.number[name] = append(f.order, name), v
	return f
}

func (f *frame) withText(name string, v []string) *frame {
	f.order, f.text[name] = append(f.order, name), v
	return f
}

func (f *frame) clone() *frame {
	return &frame{slices.Clone(f.order), maps.Clone(f.number), maps.Clone(f.text), f.n}
}

func (f *frame) table(t testing.TB) *data.Table {
	t.Helper()
	tab := data.NewTable(f.n)
	for _, name := range f.order {
		var err error
		if v, ok := f.number[name]; ok {
			err = tab.AddNumeric(name, v)
		} else {
			err = tab.AddTexts(name, f.text[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// restated is a problem put in another way.
type restated struct {
	rows    *frame
	model   decompose.Model
	formula string
	blocks  func([]decompose.Block) []decompose.Block
	term    func(name string) string // a term's new name
	row     func(i int) int          // a row's new place
	options decompose.Options
}

// move puts a problem in another way; false: it does not apply.
type move struct {
	name string
	to   func(m *restated) bool
	// others: the terms are others, of which some have the same name, so that verdicts may
	// differ.
	others bool
	// convention: another one for the split between terms, which those that rest on it show.
	convention bool
}

// everywhere are the moves that every problem undergoes.
var everywhere = []move{
	{name: "level names", to: renameLevels},
	{name: "order of columns", to: func(m *restated) bool { slices.Reverse(m.rows.order); return true }},
	{name: "order of rows", to: reverseRows},
	{name: "order of terms", to: reverseTerms},
	{name: "units", to: changeUnits},
	{name: "contrasts", to: changeContrasts},
	{name: "a line from the deep part to the terms", to: respell},
	{name: "the other terms", to: changeTerms, others: true, convention: true},
}

// renameLevels gives levels names in the opposite order, so that another one is the
// reference.
func renameLevels(m *restated) bool {
	if len(m.rows.text) == 0 {
		return false
	}
	names, back := map[string]string{}, map[string]string{}
	for column, v := range m.rows.text {
		levels := slices.Compact(slices.Sorted(slices.Values(v)))
		for i, l := range levels {
			names[column+l] = fmt.Sprintf("level%c", 'z'-rune(i))
			back[column+names[column+l]] = l
		}
		renamed := make([]string, len(v))
		for i, l := range v {
			renamed[i] = names[column+l]
		}
		m.rows.text[column] = renamed
	}
	m.model = &seen{Model: m.model, text: func(column, level string) string { return back[column+level] }}
	m.term = func(name string) string {
		smooth, by, ok := strings.Cut(name, "):")
		if !ok || names[by] == "" {
			return name
		}
		for column := range m.rows.text {
			if strings.HasPrefix(by, column) {
				return smooth + "):" + column + names[by]
			}
		}
		return name
	}
	return true
}

func reverseRows(m *restated) bool {
	for name, v := range m.rows.number {
		v = slices.Clone(v)
		slices.Reverse(v)
		m.rows.number[name] = v
	}
	for name, v := range m.rows.text {
		v = slices.Clone(v)
		slices.Reverse(v)
		m.rows.text[name] = v
	}
	n := m.rows.n
	m.row = func(i int) int { return n - 1 - i }
	return true
}

func reverseTerms(m *restated) bool {
	terms := strings.Split(strings.TrimPrefix(m.formula, "~ "), " + ")
	slices.Reverse(terms)
	m.formula = "~ " + strings.Join(terms, " + ")
	return m.formula != "~ "
}

// changeUnits multiplies all numbers by 1000 and adds 7.
func changeUnits(m *restated) bool {
	for name, v := range m.rows.number {
		v = slices.Clone(v)
		for i := range v {
			v[i] = v[i]*1000 + 7
		}
		m.rows.number[name] = v
	}
	m.model = &seen{Model: m.model, number: func(v float64) float64 { return (v - 7) / 1000 }, scale: 1000, shift: 7}
	return len(m.rows.number) > 0
}

// changeContrasts makes factors' coefficients sum to zero, and curves by level centred
// within it.
func changeContrasts(m *restated) bool {
	changed, before := false, m.blocks
	m.blocks = func(blocks []decompose.Block) []decompose.Block {
		if before != nil {
			blocks = before(blocks)
		}
		blocks = slices.Clone(blocks)
		for i := range blocks {
			b := &blocks[i]
			switch {
			case b.Term.Kind() == decompose.Factor && b.Constraint.Equal(decompose.Treatment()):
				b.Constraint = decompose.Orthogonal(slices.Repeat([]float64{1}, b.Term.Dim()))
			case len(b.Base) > 1:
				b.Base = []decompose.Term{b.Term}
			}
		}
		return blocks
	}
	changed = len(m.rows.text) > 0
	return changed
}

// changeTerms replaces fitted terms by hierarchical ones, and hierarchical by fitted.
func changeTerms(m *restated) bool {
	if m.options.Terms == decompose.Fitted {
		m.options.Terms = decompose.Hierarchical
	} else {
		m.options.Terms = decompose.Fitted
	}
	return true
}

// respell adds to every term of the model's a function in its span and takes it from the
// deep part, and so to linear terms of the formula: the network's function is the same.
func respell(m *restated) bool {
	m.model = &respelled{seen: seen{Model: m.model}}
	before, model := m.blocks, m.model.(*respelled)
	m.blocks = func(blocks []decompose.Block) []decompose.Block {
		if before != nil {
			blocks = before(blocks)
		}
		blocks = slices.Clone(blocks)
		for i, b := range blocks {
			if b.Term.Kind() == decompose.Linear && b.Coef == nil && b.Term.Dim() == 1 {
				blocks[i].Coef = []float64{0.8}
				model.added = append(model.added, decompose.Block{Term: b.Term, Coef: blocks[i].Coef})
			}
		}
		return blocks
	}
	return true
}

// seen is a model whose columns are written in another way.
type seen struct {
	decompose.Model
	text         func(column, level string) string // the level as the model knows it; nil: as it is
	number       func(v float64) float64           // the number; nil: as it is
	scale, shift float64                           // of numbers: scale x + shift; 0: as they are
}

// Intercept is that of the terms on new numbers: b x = b/s (s x + h) - b h/s.
func (m *seen) Intercept(k int) float64 {
	sum := m.Model.Intercept(k)
	if m.scale != 0 {
		for _, b := range m.Model.Blocks(k) {
			if b.Term.Kind() == decompose.Linear {
				sum -= b.Coef[0] * m.shift / m.scale
			}
		}
	}
	return sum
}

func (m *seen) Blocks(k int) []decompose.Block {
	blocks := slices.Clone(m.Model.Blocks(k))
	for i, b := range blocks {
		if m.scale != 0 && b.Term.Kind() == decompose.Linear {
			blocks[i].Coef = []float64{b.Coef[0] / m.scale}
		}
	}
	return blocks
}

func (m *seen) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	known := data.NewBatch(b.Rows(), 0)
	for _, name := range m.Columns() {
		if x, err := b.Numeric(name); err == nil {
			if m.number != nil {
				x = slices.Clone(x)
				for i := range x {
					x[i] = m.number(x[i])
				}
			}
			if err := known.SetNumeric(name, x); err != nil {
				return err
			}
			continue
		}
		codes, err := b.Codes(name)
		if err != nil {
			return err
		}
		if m.text != nil {
			codes.Levels = slices.Clone(codes.Levels)
			for i, l := range codes.Levels {
				codes.Levels[i] = m.text(name, l)
			}
		}
		if err := known.SetCodes(name, codes); err != nil {
			return err
		}
	}
	return m.Model.Forward(ctx, dst, known)
}

// respelled is a model whose terms hold more of the function, and its deep part less.
type respelled struct {
	seen
	added []decompose.Block // of the formula, with what was added
}

// more is added to the coefficients of a term.
func more(b decompose.Block) []float64 {
	out := make([]float64, b.Term.Dim())
	for l := range out {
		out[l] = 0.3 * math.Cos(float64(l))
	}
	return out
}

func (m *respelled) Blocks(k int) []decompose.Block {
	blocks := slices.Clone(m.Model.Blocks(k))
	for i, b := range blocks {
		c := more(b)
		if b.Coef != nil {
			floats.Add(c, b.Coef)
		}
		blocks[i].Coef = c
	}
	return blocks
}

func (m *respelled) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.Model.Forward(ctx, dst, b); err != nil {
		return err
	}
	for name, tensor := range dst.Taps {
		if err := b.SetTensor(name, tensor); err != nil {
			return err
		}
	}
	for k := range m.Predictors() {
		terms := slices.Clone(m.added)
		for _, own := range m.Model.Blocks(k) {
			terms = append(terms, decompose.Block{Term: own.Term, Coef: more(own)})
		}
		for _, own := range terms {
			x := mat.NewDense(b.Rows(), own.Term.Dim(), nil)
			if err := own.Term.Eval(x, b); err != nil {
				return err
			}
			for i := range b.Rows() {
				dst.Zeta.Set(i, k, dst.Zeta.At(i, k)-floats.Dot(x.RawRowView(i), own.Coef))
			}
		}
	}
	return nil
}

// answer is what a decomposition says: for each predictor the terms, centred, by name.
type answer struct {
	result *decompose.Result
	curve  []map[string][]float64
	sd     []float64 // of each predictor
}

func (m *restated) answer(t *testing.T) *answer {
	t.Helper()
	ctx, tab := context.Background(), m.rows.table(t)
	model := m.model
	if m.formula != "" {
		f, err := basis.Parse(m.formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.blocks != nil {
			blocks = m.blocks(blocks)
		}
		if model, err = decompose.With(model, map[string][]decompose.Block{"": blocks}); err != nil {
			t.Fatal(err)
		}
	}
	r, c := run(t, model, tab, m.options)
	a := &answer{result: r}
	for k, d := range r.Predictors {
		curves := map[string][]float64{}
		for j, term := range d.Terms {
			v := make([]float64, m.rows.n)
			for i := range v {
				at := i
				if m.row != nil {
					at = m.row(i)
				}
				v[i] = c.terms[k][at][j]
			}
			curves[term.Name] = v
		}
		a.curve, a.sd = append(a.curve, curves), append(a.sd, math.Sqrt(d.Variance.Total))
	}
	return a
}

// asIs is the problem before any move.
func (p *problem) asIs() *restated {
	return &restated{rows: p.rows.clone(), model: p.model, formula: p.formula, blocks: p.blocks, options: p.options}
}

// faults are what is wrong with the verdicts of before, as the moves show: a term that is
// called identified and moves, or has another verdict then. largest says how far terms
// moved, of the predictor's sd.
func (p *problem) faults(t *testing.T, before *answer) (faults []string, largest map[string]float64) {
	t.Helper()
	tolerance := p.tolerance
	if tolerance == 0 {
		tolerance = 1e-6
	}
	largest = map[string]float64{}
	for _, mv := range append(slices.Clone(everywhere), p.moves...) {
		m := p.asIs()
		if slices.Contains(p.skip, mv.name) || !mv.to(m) {
			continue
		}
		after := m.answer(t)
		for k, d := range before.result.Predictors {
			for _, term := range d.Terms {
				name := term.Name
				if m.term != nil {
					name = m.term(name)
				}
				now, ok := after.curve[k][name]
				if !ok {
					continue // the move has no such term
				}
				far := 0.0
				for i, v := range before.curve[k][term.Name] {
					far = max(far, math.Abs(v-now[i])/before.sd[k])
				}
				largest[term.Name] = max(largest[term.Name], far)
				if far > tolerance && term.Verdict == decompose.Identified {
					faults = append(faults, fmt.Sprintf("%s is called identified, and %s moves it by %.2g of the predictor's sd", term.Name, mv.name, far))
				}
				if far > tolerance && p.still && !mv.convention {
					faults = append(faults, fmt.Sprintf("%s moves %s by %.2g of the predictor's sd", mv.name, term.Name, far))
				}
				for _, other := range after.result.Predictors[k].Terms {
					if other.Name == name && !mv.others && !alike(term.Verdict, other.Verdict, far > tolerance) {
						faults = append(faults, fmt.Sprintf("%s is %s (%s) and, after %s, %s (%s)", term.Name, term.Verdict, term.Why, mv.name, other.Verdict, other.Why))
					}
				}
			}
		}
	}
	return faults, largest
}

// alike tells whether a term may have both verdicts: under another convention it is another
// function, of which the rows may tell more or less.
func alike(a, b decompose.Verdict, moved bool) bool {
	given := func(v decompose.Verdict) bool { return v == decompose.Convention || v == decompose.Weak }
	return a == b || moved && given(a) && given(b)
}

// check compares the verdicts of a problem with the expected ones, and with the terms that
// really move.
func (p *problem) check(t *testing.T) {
	before := p.asIs().answer(t)
	for _, d := range before.result.Predictors {
		for _, term := range d.Terms {
			want, ok := p.want[term.Name]
			if !ok {
				want = decompose.Identified
			}
			if term.Verdict != want {
				t.Errorf("%s is %q (%s), want %q", term.Name, term.Verdict, term.Why, want)
			}
			if (term.Why == "") != (term.Verdict == decompose.Identified) || !strings.Contains(term.Why, p.why[term.Name]) {
				t.Errorf("%s is %s because %q, want %q", term.Name, term.Verdict, term.Why, p.why[term.Name])
			}
		}
	}
	faults, largest := p.faults(t, before)
	t.Log(largest)
	for _, fault := range faults {
		t.Error(fault)
	}
	for _, name := range p.moving {
		if !(largest[name] > 1e-3) {
			t.Errorf("nothing moves %s by more than %g of the predictor's sd", name, largest[name])
		}
	}
	// The harness sees a verdict that is too good.
	for k := range before.result.Predictors {
		for j := range before.result.Predictors[k].Terms {
			before.result.Predictors[k].Terms[j].Verdict = decompose.Identified
		}
	}
	if len(p.moving) > 0 {
		spoilt, _ := p.faults(t, before)
		for _, name := range p.moving {
			if !slices.ContainsFunc(spoilt, func(s string) bool { return strings.HasPrefix(s, name+" is called identified") }) {
				t.Errorf("%s called identified is no fault: %q", name, spoilt)
			}
		}
	}
}
