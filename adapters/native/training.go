package native

import "github.com/pho-go/pho/data"

// Schedule is how the learning rate changes with the epochs.
type Schedule string

// The schedules; t is the share of all steps done.
const (
	Constant Schedule = "constant"
	Cosine   Schedule = "cosine" // rate (1 + cos(pi t))/2
	Step     Schedule = "step"   // rate times StepFactor every StepEpochs epochs
)

// Optimizer is the method by which steps follow from gradients.
type Optimizer string

// The optimisers.
const (
	Adam  Optimizer = "adam"
	AdamW Optimizer = "adamw"
	SGD   Optimizer = "sgd"
)

// Training says how the parameters are found.
type Training struct {
	Epochs    int // largest number of passes over the rows; 0: 500
	BatchSize int // 0: 256
	// Optimizer "": Adam.
	Optimizer    Optimizer
	LearningRate float64 // 0: 0.003 (SGD: 0.01)
	Momentum     float64 // of SGD; 0: 0.9, negative: none
	// WeightDecay of weight matrices and embeddings, not of beta, biases and intercepts:
	// AdamW's per unit of learning rate; for other optimisers half of it times the sum of
	// squares is added to the loss. 0: none.
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
	// Patience is the number of epochs without a new lowest validation loss after which
	// training stops; 0: 25, negative: never. Epoch 0 does not count here: networks may
	// need more than one epoch to become better than none. The model is that of the best
	// epoch, epoch 0 included; without validation rows that of the last epoch, or of epoch
	// 0 if that explains the training rows better.
	Patience int

	// Seed of everything drawn at random. The same seed and configuration give
	// the same bytes, for any number of workers.
	Seed uint64

	WithoutResponseScaling bool // y is not standardised for training, as it is for gaussian and Student's t
	WithoutInterceptStart  bool // intercepts start at 0, not at the intercept-only model
	// WithoutWarmStart starts beta at 0, not at the additive model, and the last layers of
	// networks where they were drawn, not at 0.
	WithoutWarmStart bool

	Initialization Initialization // "": Narrow

	Single bool // train in float32; else float64
	// Workers is the number of goroutines; 0: GOMAXPROCS. They share out the rows of a
	// batch, or networks side by side, and then the parameters. Steps of fewer than 4 million multiplications (3 x
	// rows of a batch x weights) have one worker, because others would cost more than they
	// save: so it takes 44,000 weights in batches of 32, 5,500 in batches of 256, 1,400 in
	// batches of 1024 for a second. With BatchNorm or Orthogonalize workers share out
	// single matrix products instead, from 8 million multiplications.
	Workers int

	// Progress, if not nil, is called after each epoch from the goroutine of Train.
	Progress func(Progress)

	// Checkpoint is a file with the state of training, which is replaced every
	// CheckpointEvery (0: 10) epochs and at the end; "": none. With Resume, training goes
	// on from that file if it exists, and ends with the bytes of a run that was not
	// interrupted. A file of another configuration or of other data is an error.
	Checkpoint      string
	CheckpointEvery int
	Resume          bool
}
