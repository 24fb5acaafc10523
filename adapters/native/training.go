package native

import "github.com/pho-go/pho/data"

// Schedule is how the learning rate changes.
type Schedule string

// The schedules; t is the share of all steps done.
const (
	Constant Schedule = "constant"
	Cosine   Schedule = "cosine" // rate (1 + cos(pi t))/2
	Step     Schedule = "step"   // rate times StepFactor every StepEpochs epochs
)

// Optimizer names the method of descent.
type Optimizer string

// The optimisers.
const (
	Adam  Optimizer = "adam"
	AdamW Optimizer = "adamw"
	SGD   Optimizer = "sgd"
)

// Training says how the parameters are found.
type Training struct {
	Epochs    int // most passes over the rows; 0: 500
	BatchSize int // 0: 256
	// Optimizer "": Adam.
	Optimizer    Optimizer
	LearningRate float64 // 0: 0.003 (SGD: 0.01)
	Momentum     float64 // of SGD; 0: 0.9, negative: none
	// WeightDecay of weight matrices and embeddings, not of beta, biases and
	// intercepts.
	WeightDecay float64
	// ClipNorm bounds the Euclidean norm of the gradient of a step; 0: no bound.
	ClipNorm   float64
	Schedule   Schedule // "": Constant
	StepEpochs int      // 0: 50
	StepFactor float64  // 0: 0.5

	// Validation rows decide when to stop; nil: a random ValidationShare of the
	// rows of the source (0: 0.2, negative: none, and no early stopping).
	Validation      data.Source
	ValidationShare float64
	// Patience is the number of epochs without a better validation loss after
	// which training stops; 0: 25, negative: never. The parameters of the best
	// epoch are kept in any case, epoch 0 among them, which has no say in patience.
	// Without validation rows they are those of the last epoch, or of epoch 0 if that
	// explains the training rows better.
	Patience int

	// Seed of everything drawn at random. The same seed and configuration give
	// the same bytes, for any number of workers.
	Seed uint64

	WithoutResponseScaling bool // gaussian: y is not standardised for training
	WithoutInterceptStart  bool // intercepts start at 0, not at the intercept-only model
	WithoutWarmStart       bool // beta starts at 0, not at the additive model (and heads of networks not at 0)

	Initialization Initialization // "": Narrow

	Single bool // train in float32; else float64
	// Workers is the number of goroutines, 0: GOMAXPROCS. They share out the rows of a
	// batch and then the parameters. A step of fewer than 4 million multiplications (3 x
	// rows x weights) has one worker, for more would cost more than they save: it takes
	// 44,000 weights in batches of 32, 5,500 in batches of 256, 1,400 in batches of 1024.
	// With BatchNorm or Orthogonalize they share out single products of 8 million instead.
	Workers int

	// Progress, if not nil, is called after each epoch from the goroutine of Train.
	Progress func(Progress)

	// Checkpoint is a file that is replaced every CheckpointEvery (0: 10) epochs
	// and at the end; "": none. With Resume training goes on from it, if it exists,
	// and ends with the bytes of a run that was not interrupted.
	Checkpoint      string
	CheckpointEvery int
	Resume          bool
}
