package native

import (
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
)

// plans lists the towers of the configuration: feature networks of numbers side by side,
// products, pairs of numbers side by side, a tower for each pair with a factor, and the
// deep part. The training rows fill in levels and moments of their columns.
func (c *Config) plans(schema data.Schema) []*network.Plan {
	var plans []*network.Plan
	add := func(p *network.Plan) {
		if p != nil {
			plans = append(plans, p)
		}
	}
	numbers := c.FeatureNetworks.numbers(schema)
	add(c.sideBySide("features", single(numbers)))
	add(c.products(numbers))
	add(c.sideBySide("pairs", c.FeatureNetworks.numericPairs(schema)))
	for _, pair := range c.FeatureNetworks.Pairs {
		add(c.pairWithFactor(schema, pair))
	}
	return append(plans, c.deepPlans(schema)...)
}

// feature is a tower of feature networks, each of as many numeric columns.
func (c *Config) feature(name string, columns [][]string) *network.Plan {
	f := &c.FeatureNetworks
	return &network.Plan{
		Name: name, Columns: columns, Numeric: len(columns[0]), Predictors: counting(c.Family.Predictors()), Hidden: f.Hidden,
		Activation: nn.Function(f.Activation), ExU: f.ExU, Dropout: f.Dropout, FeatureDropout: f.FeatureDropout, OutputPenalty: f.OutputPenalty,
		Initialization: network.Initialization(c.Training.Initialization), ProductOf: -1, Units: f.Hidden[len(f.Hidden)-1], Missing: c.Missing,
	}
}

// sideBySide is a tower of networks of the given columns; nil without any.
func (c *Config) sideBySide(name string, columns [][]string) *network.Plan {
	if len(columns) == 0 {
		return nil
	}
	return c.feature(name, columns)
}

// products is the tower of products of the first tower's networks, which are those of
// numbers; nil without any.
func (c *Config) products(numbers []string) *network.Plan {
	if len(c.FeatureNetworks.Products) == 0 {
		return nil
	}
	var columns [][]string
	var pairs [][2]int
	for _, p := range c.FeatureNetworks.Products {
		columns = append(columns, p[:])
		pairs = append(pairs, [2]int{slices.Index(numbers, p[0]), slices.Index(numbers, p[1])})
	}
	p := c.feature("products", columns)
	p.ProductOf, p.Pairs, p.Units, p.Numeric, p.Hidden, p.ExU = 0, pairs, p.Units*p.Units, 0, nil, false
	return p
}

// pairWithFactor is the tower of a pair with one factor or two; nil for two numbers.
func (c *Config) pairWithFactor(schema data.Schema, pair [2]string) *network.Plan {
	var columns []string
	var factors []network.Factor
	for _, name := range pair {
		if c.FeatureNetworks.factor(schema, name) {
			factors = append(factors, network.Factor{Column: name})
		} else {
			columns = append(columns, name)
		}
	}
	if len(factors) == 0 {
		return nil
	}
	p := c.feature("pair."+pair[0]+"."+pair[1], [][]string{columns})
	for _, f := range factors {
		p.Columns[0] = append(p.Columns[0], f.Column)
	}
	p.Factors = factors
	return p
}

// deepPlans are the towers of the deep part: one for all predictors, or one for each.
func (c *Config) deepPlans(schema data.Schema) []*network.Plan {
	d := &c.Deep
	if len(d.Columns) == 0 {
		return nil
	}
	deep := func(name string, predictors []int) *network.Plan {
		p := &network.Plan{
			Name: name, Deep: true, Predictors: predictors, Hidden: d.Hidden, Activation: nn.Function(d.Activation),
			BatchNorm: d.BatchNorm, Dropout: d.Dropout, LastDropout: true, Orthogonalize: d.Orthogonalize, WithoutFirstBias: d.WithoutFirstBias,
			Initialization: network.Initialization(c.Training.Initialization), ProductOf: -1, Units: d.Hidden[len(d.Hidden)-1], Missing: c.Missing,
		}
		d.setColumns(p, schema)
		return p
	}
	if !d.Separate {
		return []*network.Plan{deep("deep", counting(c.Family.Predictors()))}
	}
	var plans []*network.Plan
	for i, name := range c.predictorNames() {
		plans = append(plans, deep("deep."+name, []int{i}))
	}
	return plans
}

// setColumns orders the deep part's columns: numbers, then factors.
func (d *Deep) setColumns(p *network.Plan, schema data.Schema) {
	var numbers, factors []string
	for _, name := range d.Columns {
		if col, _ := schema.Lookup(name); col.Numeric && !slices.Contains(d.Factors, name) {
			numbers = append(numbers, name)
		} else {
			factors = append(factors, name)
		}
	}
	for _, name := range factors {
		p.Factors = append(p.Factors, network.Factor{Column: name, Width: d.EmbeddingWidth})
	}
	p.Numeric, p.Columns = len(numbers), [][]string{append(numbers, factors...)}
}

// factor tells whether a column is a category to the feature networks.
func (f *FeatureNetworks) factor(schema data.Schema, name string) bool {
	col, ok := schema.Lookup(name)
	return ok && (!col.Numeric || slices.Contains(f.Factors, name))
}

// numbers are the columns with a network of their own: factors are terms of the formula.
func (f *FeatureNetworks) numbers(schema data.Schema) []string {
	return slices.DeleteFunc(slices.Clone(f.Columns), func(name string) bool { return f.factor(schema, name) })
}

// numericPairs are the pairs without a factor.
func (f *FeatureNetworks) numericPairs(schema data.Schema) [][]string {
	var pairs [][]string
	for _, p := range f.Pairs {
		if !f.factor(schema, p[0]) && !f.factor(schema, p[1]) {
			pairs = append(pairs, p[:])
		}
	}
	return pairs
}

// single makes a group of each name.
func single(names []string) [][]string {
	var groups [][]string
	for _, name := range names {
		groups = append(groups, []string{name})
	}
	return groups
}

// counting is 0, 1, ..., n-1.
func counting(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}
