package command

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/native"
)

// neuralFlags are the flags of pho train on the networks themselves and on how their
// parameters are found.
type neuralFlags struct {
	features, products         []string
	hidden, featureHidden      []int
	activation, initialization string
	drop, featureDrop, penalty float64
	batchNorm, exu, separate   bool
	embedding                  int
	noFirstBias                bool

	optimizer, schedule         string
	rate, momentum, decay, clip float64
	stepEpochs                  int
	stepFactor                  float64
	noWarmStart                 bool
}

func (n *neuralFlags) addNetworks(f *pflag.FlagSet) {
	f.StringSliceVar(&n.features, "features", nil, "`COLUMNS` with a feature network each, as in a neural additive model; temp:hum is a network of the pair; a factor has an effect for each level")
	f.StringSliceVar(&n.products, "products", nil, "`PAIRS` of --features, as temp:hum: the products of what the last hidden layers of the two networks compute")
	f.IntSliceVar(&n.hidden, "hidden", nil, "`WIDTHS` of the deep part's hidden layers (default 64,32)")
	f.IntSliceVar(&n.featureHidden, "feature-hidden", nil, "`WIDTHS` of the feature networks' hidden layers (default 64,64,32)")
	f.StringVar(&n.activation, "activation", "relu", "of all hidden layers: "+oneOf(activations()))
	f.BoolVar(&n.exu, "exu", false, "first layers of feature networks of exp-centred units (Agarwal et al. 2021)")
	f.BoolVar(&n.batchNorm, "batch-norm", false, "normalise the deep part's hidden layers over each batch, before the activation")
	f.IntVar(&n.embedding, "embedding-dim", 0, "width of the deep part's embeddings of factors; 0 for half the levels, at most 8")
	f.BoolVar(&n.separate, "separate", false, "a deep network for each predictor, where they else share all but the last layer")
	f.BoolVar(&n.noFirstBias, "no-first-bias", false, "leave out the biases of the deep part's first hidden layer")
	f.StringVar(&n.initialization, "initialization", "narrow", "how weights are drawn: "+oneOf(initializations()))
	f.Float64Var(&n.drop, "dropout", 0, "share of the hidden units of the deep part and the feature networks that each step leaves out")
	f.Float64Var(&n.featureDrop, "feature-dropout", 0, "share of the feature networks that each step leaves out of a row's sum")
	f.Float64Var(&n.penalty, "output-penalty", 0, "times the mean square of what feature networks give, added to the loss")
}

func (n *neuralFlags) addOptimizer(f *pflag.FlagSet) {
	f.StringVar(&n.optimizer, "optimizer", "adam", oneOf(optimizers()))
	f.Float64Var(&n.rate, "learning-rate", 0.003, "learning rate of the optimizer")
	f.StringVar(&n.schedule, "schedule", "constant", "of the learning rate: "+oneOf(schedules())+"; cosine ends at 0 with the last epoch")
	f.IntVar(&n.stepEpochs, "step-epochs", 50, "`EPOCHS` between the steps of --schedule step")
	f.Float64Var(&n.stepFactor, "step-factor", 0.5, "factor of the learning rate at each step of --schedule step")
	f.Float64Var(&n.momentum, "momentum", 0.9, "of --optimizer sgd")
	f.Float64Var(&n.decay, "weight-decay", 0, "of weights and embeddings: of adamw per unit of learning rate, else half of it times their sum of squares is added to the loss")
	f.Float64Var(&n.clip, "clip-norm", 0, "bound on the Euclidean norm of a step's gradient, against divergence; 0 for none")
	f.BoolVar(&n.noWarmStart, "no-warm-start", false, "begin with terms of 0 and networks as they are drawn, not with the additive model of the terms")
}

func activations() []native.Activation {
	return []native.Activation{native.ReLU, native.ReLUN, native.Tanh, native.Sigmoid, native.Softplus, native.GELU}
}

func initializations() []native.Initialization {
	return []native.Initialization{native.Narrow, native.PyTorch, native.Glorot, native.He}
}

func optimizers() []native.Optimizer {
	return []native.Optimizer{native.Adam, native.AdamW, native.SGD}
}

func schedules() []native.Schedule {
	return []native.Schedule{native.Constant, native.Cosine, native.Step}
}

// oneOf is "a, b or c".
func oneOf[S ~string](values []S) string {
	texts := inText(values)
	return strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
}

func inText[S ~string](values []S) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, string(v))
	}
	return texts
}

// among is the value of a flag that takes one of a few.
func among[S ~string](flag, value string, values []S) (S, error) {
	if !slices.Contains(values, S(value)) {
		return "", usagef("--%s %q: it is %s", flag, value, oneOf(values))
	}
	return S(value), nil
}

// into sets the networks and their training in the configuration.
func (n *neuralFlags) into(c *native.Config) (err error) {
	if c.FeatureNetworks.Columns, c.FeatureNetworks.Pairs, err = columnsAndPairs("features", n.features); err != nil {
		return err
	}
	single, products, err := columnsAndPairs("products", n.products)
	if err != nil {
		return err
	}
	if len(single) > 0 {
		return usagef("--products %q: it is a pair of columns, as temp:hum", single[0])
	}
	d, f, t := &c.Deep, &c.FeatureNetworks, &c.Training
	f.Products, d.Hidden, f.Hidden = products, n.hidden, n.featureHidden
	if d.Activation, err = among("activation", n.activation, activations()); err != nil {
		return err
	}
	f.Activation = d.Activation
	if t.Initialization, err = among("initialization", n.initialization, initializations()); err != nil {
		return err
	}
	if t.Optimizer, err = among("optimizer", n.optimizer, optimizers()); err != nil {
		return err
	}
	if t.Schedule, err = among("schedule", n.schedule, schedules()); err != nil {
		return err
	}
	d.Dropout, f.Dropout, f.FeatureDropout, f.OutputPenalty = n.drop, n.drop, n.featureDrop, n.penalty
	d.BatchNorm, f.ExU, d.Separate, d.EmbeddingWidth, d.WithoutFirstBias = n.batchNorm, n.exu, n.separate, n.embedding, n.noFirstBias
	t.LearningRate, t.Momentum, t.WeightDecay, t.ClipNorm = n.rate, n.momentum, n.decay, n.clip
	if n.momentum == 0 { // where 0 is the default
		t.Momentum = -1
	}
	t.StepEpochs, t.StepFactor, t.WithoutWarmStart = n.stepEpochs, n.stepFactor, n.noWarmStart
	return n.check()
}

// check refuses values that no training has.
func (n *neuralFlags) check() error {
	for _, v := range []struct {
		flag string
		at   float64
		ok   bool
		is   string
	}{
		{"dropout", n.drop, n.drop >= 0 && n.drop < 1, "a share from 0 to less than 1"},
		{"feature-dropout", n.featureDrop, n.featureDrop >= 0 && n.featureDrop < 1, "a share from 0 to less than 1"},
		{"output-penalty", n.penalty, n.penalty >= 0, "a number >= 0, 0 for none"},
		{"weight-decay", n.decay, n.decay >= 0, "a number >= 0, 0 for none"},
		{"clip-norm", n.clip, n.clip >= 0, "a number >= 0, 0 for no bound"},
		{"learning-rate", n.rate, n.rate > 0, "a number > 0"},
		{"momentum", n.momentum, n.momentum >= 0 && n.momentum < 1, "a number from 0 to less than 1"},
		{"step-epochs", float64(n.stepEpochs), n.stepEpochs >= 1, "a whole number from 1"},
		{"step-factor", n.stepFactor, n.stepFactor > 0, "a number > 0"},
		{"embedding-dim", float64(n.embedding), n.embedding >= 0 && n.embedding <= 1024, "a whole number from 0, for half the levels, to 1024"},
	} {
		if !v.ok || math.IsInf(v.at, 1) {
			return usagef("--%s %g: it is %s", v.flag, v.at, v.is)
		}
	}
	return nil
}

// idle refuses flags that were given and change nothing, for lack of what they are about.
func (n *neuralFlags) idle(f *pflag.FlagSet, c *native.Config) error {
	features, deep := len(c.FeatureNetworks.Columns)+len(c.FeatureNetworks.Pairs) > 0, len(c.Deep.Columns) > 0
	for _, about := range []struct {
		has   bool
		lacks string
		flags []string
	}{
		{deep || features, "it is for networks: name their columns with --deep or --features", []string{"activation", "dropout", "weight-decay", "initialization"}},
		{features, "it is for feature networks: name their columns with --features", []string{"feature-hidden", "exu", "feature-dropout", "output-penalty", "products"}},
		{deep, "it is for the deep part: name its columns with --deep", []string{"hidden", "batch-norm", "embedding-dim", "separate", "no-first-bias"}},
		{c.Training.Schedule == native.Step, "it is for --schedule step", []string{"step-epochs", "step-factor"}},
		{c.Training.Optimizer == native.SGD, "it is for --optimizer sgd", []string{"momentum"}},
	} {
		for _, flag := range about.flags {
			if !about.has && f.Changed(flag) {
				return usagef("--%s: %s", flag, about.lacks)
			}
		}
	}
	return nil
}

// columnsAndPairs are names of columns and pairs of them, a:b. A name with a colon in it
// stands in backquotes, as in formulas.
func columnsAndPairs(flag string, entries []string) (columns []string, pairs [][2]string, err error) {
	for _, entry := range entries {
		names := []string{""}
		quoted := false
		for _, r := range entry {
			switch {
			case r == '`':
				quoted = !quoted
			case r == ':' && !quoted:
				names = append(names, "")
			default:
				names[len(names)-1] += string(r)
			}
		}
		switch {
		case slices.Contains(names, "") || quoted || len(names) > 2:
			return nil, nil, usageError{fmt.Errorf("--%s %q: it is a column or a pair of columns, as temp:hum; a name with a colon stands in backquotes", flag, entry)}
		case len(names) == 1:
			columns = append(columns, names[0])
		default:
			pairs = append(pairs, [2]string{names[0], names[1]})
		}
	}
	return columns, pairs, nil
}
