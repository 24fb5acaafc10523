package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/kernel"
)

// tower is a part of the network with a last hidden layer U and heads: the deep
// part (one group), or feature networks side by side (a group each).
type tower[T kernel.Float] struct {
	plan  *towerPlan
	embed []*nn.Embedding[T]
	chain *nn.Chain[T]
	// head maps the q units of each group to the tower's predictors: its output is n
	// x (groups * predictors).
	head      *nn.Dense[T]
	drop      *nn.Dropout[T] // of whole groups
	x, du, dx []T
	u         []T // n x (groups q), after the last forward pass
	projected []T // U orthogonalized online
	df        []T // gradient in f
	f         []T // n x (groups predictors)
}

// towerPlan is what a tower is, whatever its precision.
type towerPlan struct {
	name                          string
	deep                          bool       // its output is zeta; else each group is a learned term
	columns                       [][]string // of each group, in order; factors come last
	numeric                       int        // numeric columns of each group
	factors                       []factorPlan
	predictors                    []int // it contributes to
	hidden                        []int
	activation                    Activation
	exu                           bool
	batchNorm                     bool
	dropout                       float64
	lastDrop                      bool // dropout after the last hidden layer too
	featureDropout, outputPenalty float64
	orthogonalize                 bool
	unbiased                      bool // no biases in the first layer
	initial                       Initialization
	// of is the tower whose groups are multiplied in a product tower, else -1;
	// pairs are the two groups of each product.
	of       int
	pairs    [][2]int
	q        int       // units of each group
	mean, sd []float64 // of the numeric columns, group by group
}

// factorPlan is an embedded column with its levels in code order.
type factorPlan struct {
	column string
	levels []string
	width  int
}

func (p *towerPlan) groups() int { return len(p.columns) }

// inputs is the width of a row of x: the numeric columns of all groups.
func (p *towerPlan) inputs() int { return p.numeric * p.groups() }

// towerPlans lists the towers of the configuration; levels and moments of the
// columns are filled in by the data.
func (c *Config) towerPlans(schema data.Schema) []*towerPlan {
	k := c.Family.Predictors()
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	var plans []*towerPlan
	initial := c.Training.Initialization
	f := &c.Features
	feature := func(name string, columns [][]string) *towerPlan {
		return &towerPlan{
			name: name, columns: columns, predictors: all, hidden: f.Hidden, activation: f.Activation, exu: f.ExU,
			dropout: f.Dropout, featureDropout: f.FeatureDropout, outputPenalty: f.OutputPenalty,
			numeric: len(columns[0]), of: -1, q: f.Hidden[len(f.Hidden)-1], initial: initial,
		}
	}
	var numbers []string
	for _, name := range f.Columns {
		if !f.factor(schema, name) { // others are terms of the formula
			numbers = append(numbers, name)
		}
	}
	if len(numbers) > 0 {
		var columns [][]string
		for _, name := range numbers {
			columns = append(columns, []string{name})
		}
		plans = append(plans, feature("features", columns))
	}
	if len(f.Products) > 0 {
		var columns [][]string
		var pairs [][2]int
		for _, p := range f.Products {
			columns = append(columns, p[:])
			pairs = append(pairs, [2]int{slices.Index(numbers, p[0]), slices.Index(numbers, p[1])})
		}
		p := feature("products", columns)
		p.of, p.pairs, p.q, p.numeric, p.hidden, p.exu = 0, pairs, p.q*p.q, 0, nil, false
		plans = append(plans, p)
	}
	var side [][]string // pairs of numbers are networks side by side
	for _, p := range f.Pairs {
		if !f.factor(schema, p[0]) && !f.factor(schema, p[1]) {
			side = append(side, p[:])
		}
	}
	if len(side) > 0 {
		plans = append(plans, feature("pairs", side))
	}
	for _, p := range f.Pairs {
		var columns []string
		var factors []factorPlan
		for _, name := range p {
			if f.factor(schema, name) {
				factors = append(factors, factorPlan{column: name})
			} else {
				columns = append(columns, name)
			}
		}
		if len(factors) == 0 {
			continue
		}
		plan := feature("pair."+p[0]+"."+p[1], [][]string{columns})
		for _, factor := range factors {
			plan.columns[0] = append(plan.columns[0], factor.column)
		}
		plan.factors = factors
		plans = append(plans, plan)
	}
	if d := &c.Deep; len(d.Columns) > 0 {
		deep := func(name string, predictors []int) {
			plans = append(plans, &towerPlan{
				name: name, deep: true, columns: [][]string{d.Columns}, predictors: predictors, hidden: d.Hidden,
				activation: d.Activation, batchNorm: d.BatchNorm, dropout: d.Dropout, lastDrop: true,
				orthogonalize: d.Orthogonalize, unbiased: d.WithoutFirstBias, of: -1, q: d.Hidden[len(d.Hidden)-1], initial: initial,
			})
		}
		if !d.Separate {
			deep("deep", all)
		} else {
			for i, name := range c.predictorNames() {
				deep("deep."+name, []int{i})
			}
		}
	}
	return plans
}

// factor tells whether a column is a category to the feature networks.
func (f *Features) factor(schema data.Schema, name string) bool {
	col, ok := schema.Lookup(name)
	return ok && (!col.Numeric || slices.Contains(f.Factors, name))
}

// newTower builds the layers, with all parameters 0 but those of batch norm.
func newTower[T kernel.Float](p *towerPlan, seed uint64) *tower[T] {
	t := &tower[T]{plan: p, chain: &nn.Chain[T]{}}
	g, in := p.groups(), p.numeric
	for _, f := range p.factors {
		t.embed = append(t.embed, nn.NewEmbedding[T](p.name+".embedding."+f.column, len(f.levels), f.width))
		in += f.width
	}
	t.chain.Width = g * p.q
	for l, width := range p.hidden {
		name := fmt.Sprintf("%s.%d", p.name, l)
		linear := p.activation
		if l == 0 && p.exu {
			e := nn.NewExU[T](name, g, in, width)
			e.First = len(p.factors) == 0
			t.add(e)
		} else {
			d := nn.NewDense[T](name, g, in, width, true)
			d.First = l == 0 && len(p.factors) == 0
			if l == 0 && p.unbiased {
				d.B.Grad = nil // a state of zeros
			}
			if p.activation == ReLU && !p.batchNorm {
				d.Relu, linear = true, ""
			}
			t.add(d)
		}
		if p.batchNorm {
			t.add(nn.NewBatchNorm[T](name+".norm", g*width))
		}
		if linear != "" {
			t.add(&nn.Activation[T]{Width: g * width, F: nn.Function(linear), N: relunTop})
		}
		if p.dropout > 0 && (p.lastDrop || l+1 < len(p.hidden)) {
			t.add(&nn.Dropout[T]{Width: g * width, Run: 1, P: p.dropout, Seed: seed + uint64(l)})
		}
		in = width
	}
	t.head = nn.NewDense[T](p.name+".head", g, p.q, len(p.predictors), false)
	t.drop = &nn.Dropout[T]{Width: g * len(p.predictors), Run: len(p.predictors), P: p.featureDropout, Seed: seed + 1<<32}
	return t
}

func (t *tower[T]) add(l nn.Layer[T]) { t.chain.Layers = append(t.chain.Layers, l) }

// init draws the parameters as the plan's initialisation says.
func (t *tower[T]) init(rng *rand.Rand) {
	for _, e := range t.embed {
		e.Init(rng)
	}
	for i, l := range t.chain.Layers {
		switch l := l.(type) {
		case *nn.Dense[T]:
			gain, bias := t.plan.initial.hidden(t.plan, i, l.In, l.OutEach)
			l.Init(rng, gain)
			if l.B.Grad == nil {
				continue
			}
			for i := range l.B.Value {
				l.B.Value[i] = T(bias * (2*rng.Float64() - 1)) // kinks of ReLU units off the mean
			}
		case *nn.ExU[T]:
			l.Init(rng, 0.5)
		}
	}
	t.head.Init(rng, t.plan.initial.head(t.plan))
}

func (t *tower[T]) params() []*nn.Param[T] {
	var p []*nn.Param[T]
	for _, e := range t.embed {
		p = append(p, e.Table)
	}
	return append(append(p, t.chain.Params()...), t.head.Params()...)
}

func (t *tower[T]) replica() *tower[T] {
	r := &tower[T]{plan: t.plan, chain: t.chain.Replica().(*nn.Chain[T]), head: t.head.Replica().(*nn.Dense[T]), drop: t.drop.Replica().(*nn.Dropout[T])}
	for _, e := range t.embed {
		r.embed = append(r.embed, e.Replica())
	}
	return r
}

// hidden computes U from the numeric inputs (n x inputs) and the codes of each
// factor, or as products of another tower's U.
func (t *tower[T]) hidden(x []T, codes [][]int32, towers []*tower[T], n int, m nn.Mode) {
	p := t.plan
	switch {
	case p.of >= 0:
		t.x = grow(t.x, n*p.groups()*p.q)
		from := towers[p.of]
		stride, q := from.plan.groups()*from.plan.q, from.plan.q
		for g, pair := range p.pairs {
			nn.RowTensor(t.x[g*p.q:], p.groups()*p.q, from.u[pair[0]*q:], stride, q, from.u[pair[1]*q:], stride, q, n)
		}
		x = t.x
	case len(t.embed) > 0:
		x = t.embedded(x, codes, n)
	}
	t.u = t.chain.Forward(x, n, m)
}

// embedded puts the rows of the embeddings next to the numeric columns.
func (t *tower[T]) embedded(x []T, codes [][]int32, n int) []T {
	width := t.width()
	t.x = grow(t.x, n*width)
	for i := range n {
		copy(t.x[i*width:], x[i*t.plan.numeric:][:t.plan.numeric])
	}
	at := t.plan.numeric
	for j, e := range t.embed {
		e.Forward(t.x[at:], width, codes[j][:n])
		at += e.Width
	}
	return t.x
}

// backward takes the gradient in U and passes it on; du is overwritten. Gradients of
// the parameters wait for left if later.
func (t *tower[T]) backward(du []T, towers []*tower[T], n int, later bool) {
	p := t.plan
	t.dx = t.chain.Backward(du, n)
	switch {
	case p.of >= 0:
		from := towers[p.of]
		stride, q := from.plan.groups()*from.plan.q, from.plan.q
		for g, pair := range p.pairs {
			a, b := pair[0]*q, pair[1]*q
			nn.RowTensorGrad(from.du[a:], from.du[b:], t.dx[g*p.q:], p.groups()*p.q, from.u[a:], stride, q, from.u[b:], stride, q, n)
		}
	case !later:
		t.embeddingGradients()
	}
}

// embeddingGradients adds those of the last backward pass.
func (t *tower[T]) embeddingGradients() {
	at, width := t.plan.numeric, t.width()
	for _, e := range t.embed {
		e.Backward(t.dx[at:], width)
		at += e.Width
	}
}

// width is the number of columns that the layers read if there are embeddings.
func (t *tower[T]) width() int {
	width := t.plan.numeric
	for _, e := range t.embed {
		width += e.Width
	}
	return width
}

// finish ends the backward passes of a step.
func (t *tower[T]) finish() {
	for _, l := range t.chain.Layers {
		if e, ok := l.(*nn.ExU[T]); ok {
			e.Finish()
		}
	}
}

func grow[T kernel.Float](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// term is the name of group g's learned term.
func (p *towerPlan) term(g int) string { return "f(" + strings.Join(p.columns[g], ",") + ")" }
