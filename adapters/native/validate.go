package native

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// faults collects all that is wrong with a configuration.
type faults []error

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf("native: "+format, args...))
}

func (f faults) err() error { return errors.Join(f...) }

// validate reports every fault of a configuration with defaults against the
// columns at once, and returns the parsed formulas; the response is settled.
func (c *Config) validate(schema data.Schema) ([]*basis.Formula, error) {
	var f faults
	formulas := c.parse(schema, &f)
	c.validateFamily(&f)
	c.validateArchitecture(formulas, &f)
	c.validateColumns(schema, &f)
	c.validateFeatures(schema, formulas, &f)
	c.validateNetworks(&f)
	c.validateTraining(&f)
	return formulas, f.err()
}

func (c *Config) parse(schema data.Schema, f *faults) []*basis.Formula {
	c.settle(f)
	var formulas []*basis.Formula
	seen := map[string]bool{}
	for _, text := range c.Structured.Formulas {
		p, err := basis.Parse(text, &basis.Options{Schema: schema, Factors: c.Structured.Factors, Response: c.Response, Event: c.Event})
		if err != nil {
			*f = append(*f, err)
			continue
		}
		formulas = append(formulas, p)
		if !c.categorical() { // whose classes are not known yet
			c.validatePredictor(p, f)
		}
		if seen[p.Predictor] {
			f.add("two formulas for the same predictor: %q", text)
		}
		seen[p.Predictor] = true
	}
	return formulas
}

// settle takes the columns of response and events from the formulas, any of which may name
// them: whatever else is wrong with a formula, what it names is named.
func (c *Config) settle(f *faults) {
	take := func(what string, of *string, named string) {
		switch {
		case named == "":
		case *of == "":
			*of = named
		case *of != named:
			f.add("the %s is %q in a formula and %q elsewhere", what, named, *of)
		}
	}
	for _, text := range c.Structured.Formulas {
		p, err := basis.Parse(text, nil)
		if err != nil { // told when it is parsed with the columns
			continue
		}
		take("response", &c.Response, p.Response)
		take("column of events", &c.Event, p.Event)
	}
}

// validatePredictor refuses a formula for a predictor that is none.
func (c *Config) validatePredictor(p *basis.Formula, f *faults) {
	if p.Predictor != "" && !slices.Contains(c.predictorNames(), p.Predictor) {
		f.add("formula for predictor %q: the %s model has %.200q", p.Predictor, c.Family.Name(), c.predictorNames())
	}
}

func (c *Config) validateArchitecture(formulas []*basis.Formula, f *faults) {
	terms := 0
	for _, p := range formulas {
		terms += len(p.Specs)
	}
	features := len(c.FeatureNetworks.Columns) + len(c.FeatureNetworks.Pairs)
	deep := len(c.Deep.Columns)
	switch c.Architecture {
	case SSN:
		if terms+features+deep == 0 && len(c.Structured.Formulas) == 0 {
			f.add("nothing to fit: give a formula, deep columns or feature networks")
		}
	case NAM:
		if features == 0 {
			f.add("a nam needs FeatureNetworks.Columns: one network for each")
		}
	case MLP:
		if deep == 0 {
			f.add("an mlp needs Deep.Columns")
		}
		if terms+features > 0 {
			f.add("an mlp has neither formula terms nor feature networks: that is an ssn")
		}
	case GAM:
		if deep+features > 0 {
			f.add("a gam has neither deep columns nor feature networks: that is an ssn")
		}
	default:
		f.add("unknown architecture %q: known are ssn, nam, mlp and gam", c.Architecture)
	}
	if c.Deep.Orthogonalize {
		switch {
		case deep == 0:
			f.add("online orthogonalization needs Deep.Columns")
		case c.categorical() && !c.Deep.Separate:
			f.add("online orthogonalization of a predictor for each class needs Deep.Separate: each has its own structured columns")
		case c.Family.Predictors() > 1 && !c.Deep.Separate:
			f.add("online orthogonalization of %d predictors needs Deep.Separate: each has its own structured columns", c.Family.Predictors())
		}
	}
}

// validateFamily refuses unknown parameters that training does not find, and given ones that it does.
func (c *Config) validateFamily(f *faults) {
	if err := family.Trainable(c.Family); err != nil {
		f.add("%w", err)
	}
	if c.categorical() && c.Offset != "" {
		f.add("family %s: an offset is for one predictor, and there is one for each class: leave out column %q", c.Family.Name(), c.Offset)
	}
}

func (c *Config) validateColumns(schema data.Schema, f *faults) {
	numeric := func(name, what string) {
		col, ok := schema.Lookup(name)
		switch {
		case !ok:
			f.add("%s: no column %q in the data, which has %q", what, name, schema.Names())
		case !col.Numeric:
			f.add("%s: column %q %s, where numbers are needed", what, name, col.HoldsText())
		}
	}
	if c.Response == "" {
		f.add("no response: set Response or write y ~ ... in a formula")
	} else {
		switch col, ok := schema.Lookup(c.Response); {
		case !ok || col.Numeric || !col.Categorical:
			numeric(c.Response, "response")
		case !family.TraitsOf(c.Family).Binary && !c.categorical(): // whose classes may be text
			advice := "two classes of text are a response of family binomial, more of categorical"
			if _, ordered := c.Family.(family.Ordinal); ordered {
				advice = "number the classes 1, 2, ... in their order"
			}
			f.add("response: column %q holds text, where numbers are needed; %s", c.Response, advice)
		}
	}
	if c.Event != "" && family.Censored(c.Family) == nil {
		f.add("events %q: %w", c.Event, family.NoTimes(c.Family))
	}
	for _, o := range [][2]string{{c.Event, "events"}, {c.Weights, "weights"}, {c.Offset, "offset"}} {
		if o[0] != "" {
			numeric(o[0], o[1])
			if o[0] == c.Response {
				f.add("%s: column %q is the response", o[1], o[0])
			}
		}
	}
	for i, name := range c.Deep.Columns {
		c.known(schema, f, name, "deep part")
		c.notOwn(f, name, "deep part")
		if slices.Contains(c.Deep.Columns[:i], name) {
			f.add("deep part: column %q is listed twice", name)
		}
	}
	for _, name := range c.Deep.Factors {
		if !slices.Contains(c.Deep.Columns, name) {
			f.add("deep part: factor %q is not among its columns %q", name, c.Deep.Columns)
		}
	}
}

// known refuses a column that the data do not have.
func (c *Config) known(schema data.Schema, f *faults, name, what string) {
	if _, ok := schema.Lookup(name); !ok {
		f.add("%s: no column %q in the data, which has %q", what, name, schema.Names())
	}
}

// notOwn refuses the response and the weights as inputs.
func (c *Config) notOwn(f *faults, name, what string) {
	switch {
	case name == "":
	case name == c.Response || name == c.Weights:
		f.add("%s: column %q is the response or the weights", what, name)
	case name == c.Event:
		f.add("%s: column %q says which times are censored: it is part of the response", what, name)
	}
}

func (c *Config) validateFeatures(schema data.Schema, formulas []*basis.Formula, f *faults) {
	named := map[string]bool{}
	for _, name := range c.FeatureNetworks.Columns {
		c.known(schema, f, name, "feature network")
		c.notOwn(f, name, "feature network")
		if named[name] {
			f.add("feature networks: column %q is listed twice", name)
		}
		named[name] = true
	}
	for _, name := range c.FeatureNetworks.Factors {
		if !named[name] && !slices.ContainsFunc(c.FeatureNetworks.Pairs, func(p [2]string) bool { return p[0] == name || p[1] == name }) {
			f.add("feature networks: factor %q is not among their columns %q", name, c.FeatureNetworks.Columns)
		}
	}
	for _, p := range formulas {
		for _, spec := range p.Specs {
			if own := spec.Columns(); len(own) == 1 && named[own[0]] && c.FeatureNetworks.factor(schema, own[0]) {
				f.add("feature networks: the factor %q is a term of the formula already: leave one of them out", own[0])
			}
		}
	}
	c.validatePairs(schema, named, f)
}

// validatePairs checks pairs and products; named are the columns with a network of their
// own.
func (c *Config) validatePairs(schema data.Schema, named map[string]bool, f *faults) {
	pairs := map[[2]string]bool{}
	for i, p := range append(slices.Clone(c.FeatureNetworks.Pairs), c.FeatureNetworks.Products...) {
		what := fmt.Sprintf("pair (%s, %s)", p[0], p[1])
		if i >= len(c.FeatureNetworks.Pairs) {
			what = fmt.Sprintf("product (%s, %s)", p[0], p[1])
			for _, name := range p {
				if c.FeatureNetworks.factor(schema, name) {
					f.add("%s: column %q is a factor: make it one of FeatureNetworks.Pairs", what, name)
				} else if !named[name] {
					f.add("%s: column %q has no feature network of its own: add it to FeatureNetworks.Columns", what, name)
				}
			}
		}
		for _, name := range p {
			c.known(schema, f, name, what)
			c.notOwn(f, name, what)
		}
		if p[0] == p[1] {
			f.add("%s: the columns are the same", what)
		}
		if pairs[p] || pairs[[2]string{p[1], p[0]}] {
			f.add("%s is listed twice", what)
		}
		pairs[p] = true
	}
}

func (c *Config) validateNetworks(f *faults) {
	widths := func(what string, w []int) {
		for _, v := range w {
			if v < 1 || v > 1<<16 {
				f.add("%s: a hidden layer of width %d: it must be from 1 to 65536", what, v)
			}
		}
		if len(w) == 0 {
			f.add("%s: no hidden layer, so nothing would be learned beyond linear effects: use a formula", what)
		}
	}
	share := func(what string, v float64) {
		if !(v >= 0 && v < 1) {
			f.add("%s is %g: it must be at least 0 and below 1", what, v)
		}
	}
	known := func(what string, a Activation) {
		if !slices.Contains(nn.Functions(), nn.Function(a)) {
			f.add("%s: unknown activation %q: known are %q", what, a, nn.Functions())
		}
	}
	widths("deep part", c.Deep.Hidden)
	widths("feature networks", c.FeatureNetworks.Hidden)
	known("deep part", c.Deep.Activation)
	known("feature networks", c.FeatureNetworks.Activation)
	share("Deep.Dropout", c.Deep.Dropout)
	share("FeatureNetworks.Dropout", c.FeatureNetworks.Dropout)
	share("FeatureNetworks.FeatureDropout", c.FeatureNetworks.FeatureDropout)
	if c.Deep.EmbeddingWidth < 0 || c.Deep.EmbeddingWidth > 1024 {
		f.add("Deep.EmbeddingWidth is %d: it must be from 0 (automatic) to 1024", c.Deep.EmbeddingWidth)
	}
	if !(c.FeatureNetworks.OutputPenalty >= 0) || math.IsInf(c.FeatureNetworks.OutputPenalty, 0) {
		f.add("FeatureNetworks.OutputPenalty is %g: it must be finite and not negative", c.FeatureNetworks.OutputPenalty)
	}
	if len(c.FeatureNetworks.Products) > 0 {
		if q := c.FeatureNetworks.Hidden; len(q) > 0 && q[len(q)-1] > 64 {
			f.add("products of feature networks whose last layer has %d units have %d columns each: at most 64 units are sensible", q[len(q)-1], q[len(q)-1]*q[len(q)-1])
		}
	}
}

func (c *Config) validateTraining(f *faults) {
	t := &c.Training
	positive := func(name string, v float64) {
		if !(v > 0) || math.IsInf(v, 0) {
			f.add("Training.%s is %g: it must be positive and finite", name, v)
		}
	}
	notNegative := func(name string, v float64) {
		if !(v >= 0) || math.IsInf(v, 0) {
			f.add("Training.%s is %g: it must be finite and not negative", name, v)
		}
	}
	positive("Epochs", float64(t.Epochs))
	positive("BatchSize", float64(t.BatchSize))
	positive("LearningRate", t.LearningRate)
	positive("StepEpochs", float64(t.StepEpochs))
	positive("StepFactor", t.StepFactor)
	positive("CheckpointEvery", float64(t.CheckpointEvery))
	notNegative("WeightDecay", t.WeightDecay)
	notNegative("ClipNorm", t.ClipNorm)
	notNegative("Workers", float64(t.Workers))
	if !(t.Momentum >= 0 && t.Momentum < 1) {
		f.add("Training.Momentum is %g: it must be below 1", t.Momentum)
	}
	if math.IsNaN(t.ValidationShare) || t.ValidationShare >= 1 {
		f.add("Training.ValidationShare is %g: it must be below 1; negative for none", t.ValidationShare)
	}
	if !slices.Contains([]Optimizer{Adam, AdamW, SGD}, t.Optimizer) {
		f.add("unknown optimizer %q: known are adam, adamw and sgd", t.Optimizer)
	}
	if !slices.Contains([]Schedule{Constant, Cosine, Step}, t.Schedule) {
		f.add("unknown schedule %q: known are constant, cosine and step", t.Schedule)
	}
	if !slices.Contains(initializations(), t.Initialization) {
		f.add("unknown initialization %q: known are %q", t.Initialization, initializations())
	}
	if t.Resume && t.Checkpoint == "" {
		f.add("Training.Resume needs Training.Checkpoint, the file to go on from")
	}
	if c.Deep.BatchNorm && t.BatchSize == 1 {
		f.add("batch norm needs batches of more than one row")
	}
}
