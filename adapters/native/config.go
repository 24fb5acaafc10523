package native

import (
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/penalty"
)

// Architecture names the model that is meant. What a Config has beside its parts is an
// error.
type Architecture string

// The architectures.
const (
	SSN Architecture = "ssn" // formula terms, with or without a deep part and feature networks
	NAM Architecture = "nam" // feature networks, with or without a deep part
	MLP Architecture = "mlp" // a deep part alone
	GAM Architecture = "gam" // formula terms alone: solved, not trained; by Fisher scoring with REML unless gaussian
)

// Activation is the function that a hidden layer applies to each of its units.
type Activation string

// The activation functions.
const (
	ReLU     Activation = "relu"
	ReLUN    Activation = "relu-n" // min(max(x, 0), 1)
	Tanh     Activation = "tanh"
	Sigmoid  Activation = "sigmoid"
	Softplus Activation = "softplus"
	GELU     Activation = "gelu"
)

// Config describes a model and its training. Zero values are the defaults, so
// a response with a formula or deep columns is enough.
type Config struct {
	Architecture Architecture // "": SSN

	// Response is the column y; "": from the left side of a formula. Text is for
	// family.Binomial: two different values, the second in alphabetical order being 1; and
	// for family.Categorical, whose classes are all values, of text or numbers.
	Response string
	// Event is a column that says of times whether the event was seen then, 1, or not until
	// then, 0; "": from Surv(time, event) on the left side of a formula, or else always.
	Event   string
	Weights string // column of prior weights; "": ones
	Offset  string // column that is added to the first predictor; "": none, as of classes
	// Family is the distribution of y; nil: family.Gaussian{}. Unknown parameters of
	// a family.Held are estimated along with the network. The zero family.Categorical is
	// given the classes of the response, each with a predictor of its name; the zero
	// family.Ordinal its levels, numbers, and thresholds.
	Family family.Differentiable

	// Missing allows missing numbers (NaN) in columns that networks alone read: the mean of
	// the column over the training rows stands for them, in the file too. Terms of formulas
	// need values.
	Missing bool

	Structured      Structured
	Deep            Deep
	FeatureNetworks FeatureNetworks
	Training        Training
	Sampling        Sampling

	classes []string // of a response of family.Categorical, once the rows are read

	// Export, if not nil, says how the model is to be written: what WriteONNX would refuse
	// is then refused before anything is fitted. nil: everything is trained.
	Export *ExportOptions
}

// Sampling says which of the rows a network is trained on: for several networks of one task,
// which are to be compared. Terms, levels and scales are found in all rows that are not held
// out, so that networks of other resamples have the same columns.
type Sampling struct {
	// SplitSeed draws the validation rows, so that networks of other seeds hold out the same
	// ones; 0: Training.Seed.
	SplitSeed uint64
	// Resample is the seed of a bootstrap resample: as many rows as are not held out are drawn
	// from them, with replacement; 0: none.
	Resample uint64
}

// Structured is the formula part X beta.
type Structured struct {
	// Formulas are texts for basis.Parse, such as "y ~ x1 + s(x2, k=20)" for every
	// predictor or "sigma = ~ x1" for one; none: intercepts only. "y ~ ." is a term for each
	// column without another role or a feature network, chosen as in package propose.
	Formulas []string
	// Factors are columns that are categories though they hold numbers.
	Factors []string
	// SP fixes smoothing parameters by term name. The others are chosen by
	// Smoothing from the working response at the intercept-only model, which for
	// gaussian means is the response itself.
	SP        map[string][]float64
	Smoothing penalty.Options // zero: REML
}

// Deep is the deep part zeta = U gamma: a multilayer perceptron.
type Deep struct {
	// Columns it reads; none: there is no deep part. Text columns, and those in
	// Factors, are embedded; numbers are standardised.
	Columns []string
	Factors []string
	Hidden  []int // widths of the hidden layers; nil: 64, 32
	// Activation after each hidden layer; "": ReLU.
	Activation Activation
	Dropout    float64 // after each hidden layer, in [0, 1)
	BatchNorm  bool    // before each activation
	// WithoutFirstBias leaves out the biases of the first hidden layer, as the networks of
	// Rügamer (2023) do. The ReLU units of that layer then all bend at the columns' means.
	WithoutFirstBias bool
	// EmbeddingWidth of a factor; 0: (levels+1)/2, at most 8.
	EmbeddingWidth int
	// Separate gives each predictor a network of its own; else they share all but
	// the last layer.
	Separate bool
	// Orthogonalize online (ONO, Rügamer et al. 2023): in each training batch U is
	// projected on the orthogonal complement of the batch's structured columns. It is here
	// to be compared with; Model.PredictOnline tells its faults. It needs one predictor, or
	// Separate. The trained model has one projection for all rows in place of the batches',
	// that of the training rows: eta = X beta + zeta - X alpha, alpha = X^+ zeta.
	Orthogonalize bool
}

// FeatureNetworks are small networks that read one column or two each: a neural additive
// model. Their sum is part of the predictor.
type FeatureNetworks struct {
	// Columns have a network f_j(x_j) each. A factor has a table of effects in place of a
	// network, one for each level: it becomes a factor term of the formula, and is named
	// and decomposed as one. Dropout and penalty below do not concern it.
	Columns []string
	// Factors are columns of Columns or Pairs that are categories though they hold
	// numbers. Text columns are categories in any case.
	Factors []string
	// Pairs have a network f(x_a, x_b) each, which reads factors through embeddings of
	// width (levels+1)/2, at most 8.
	Pairs [][2]string
	// Products are pairs of numeric columns with the bivariate term of Rügamer (2023): its
	// basis is the row-wise tensor product of the last hidden layers of the two columns'
	// networks. Both must be in Columns.
	Products   [][2]string
	Hidden     []int      // nil: 64, 64, 32; the last is the width of the learned basis
	Activation Activation // "": ReLU
	// ExU makes the first layer one of exp-centred units (Agarwal et al. 2021).
	ExU     bool
	Dropout float64 // after each hidden layer but the last, in [0, 1)
	// FeatureDropout is the probability that a training step leaves a whole f_j out of a
	// row's sum, in [0, 1).
	FeatureDropout float64
	// OutputPenalty times the mean of all f_j^2 is added to the loss.
	OutputPenalty float64
}

// withDefaults fills in what was left at zero.
func (c Config) withDefaults() Config {
	set(&c.Architecture, SSN)
	if c.Family == nil {
		c.Family = family.Gaussian{}
	}
	if c.Deep.Hidden == nil {
		c.Deep.Hidden = []int{64, 32}
	}
	set(&c.Deep.Activation, ReLU)
	if c.FeatureNetworks.Hidden == nil {
		c.FeatureNetworks.Hidden = []int{64, 64, 32}
	}
	set(&c.FeatureNetworks.Activation, ReLU)
	t := &c.Training
	set(&t.Epochs, 500)
	set(&t.BatchSize, 256)
	set(&t.Optimizer, Adam)
	if t.Optimizer == SGD {
		set(&t.LearningRate, 0.01)
	}
	set(&t.LearningRate, 0.003)
	set(&t.Momentum, 0.9)
	t.Momentum = max(t.Momentum, 0)
	set(&t.Initialization, Narrow)
	set(&t.Schedule, Constant)
	set(&t.StepEpochs, 50)
	set(&t.StepFactor, 0.5)
	set(&t.ValidationShare, 0.2)
	set(&t.Patience, 25)
	set(&t.CheckpointEvery, 10)
	return c
}

// set replaces the zero value.
func set[T comparable](v *T, standard T) {
	var zero T
	if *v == zero {
		*v = standard
	}
}

// predictorNames are those of formulas and results.
func (c *Config) predictorNames() []string {
	if c.classes != nil {
		return c.classes
	}
	if f, ok := c.Family.(interface{ Parameters() []string }); ok && c.Family.Predictors() > 1 {
		return f.Parameters()
	}
	return []string{"eta"}
}

// trained is the family that training sees: an unknown parameter is a predictor
// there, behind the others, which has an intercept and nothing else.
func (c *Config) trained() family.Differentiable {
	if h, ok := c.Family.(family.Held); ok && h.Unknown() != nil {
		return h.Free()
	}
	return c.Family
}

// unknown names these parameters.
func (c *Config) unknown() []string {
	if h, ok := c.Family.(family.Held); ok {
		return h.Unknown()
	}
	return nil
}
