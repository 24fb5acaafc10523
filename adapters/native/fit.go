package native

import (
	"time"

	"github.com/pho-go/pho/decompose"
)

// Status says how training ended.
type Status string

// The ways in which training ends.
const (
	Stopped    Status = "early stopping" // no better validation loss for Patience epochs
	EpochLimit Status = "epoch limit"
	Diverged   Status = "diverged" // the loss was no longer finite; the model is that of the best epoch before
	Solved     Status = "solved"   // a GAM is solved, not trained
)

// Epoch is one pass over the training rows.
type Epoch struct {
	Epoch int     // from 1
	Rate  float64 // learning rate of its last step
	// Train is the loss with penalties and dropout, each batch at the parameters before its
	// step, averaged over the batches. Validation is the mean negative log-likelihood of
	// the validation rows after the epoch; NaN without any. Both are in training's units:
	// of a standardised response, dispersion 1.
	Train, Validation float64
}

// Progress is what Training.Progress is told after an epoch.
type Progress struct {
	Epoch
	Of      int // Training.Epochs
	Best    int // the epoch with the lowest validation loss so far; 0: none was better than the start
	Elapsed time.Duration
	// Left is how long the remaining epochs would take without early stopping.
	Left time.Duration
}

// Fit is the record of a training: how it went, and how good the model is.
type Fit struct {
	Status     Status
	Seed       uint64
	Rows       int // that were trained on
	Validation int // rows held out
	Epochs     []Epoch
	Best       int // epoch whose parameters the model has; 0: the start of training, or a GAM
	// AdditiveLoss is the loss of the additive model at the rows of Evaluation, in the same
	// units: intercepts and formula terms as they were solved, without networks. Training
	// begins there unless Training.WithoutWarmStart or WithoutInterceptStart is set.
	AdditiveLoss float64
	// Evaluation is how well the model predicts the validation rows or, without any, those
	// it was trained on.
	Evaluation Evaluation
	// Classes are the texts of the response that were trained as 0 and 1, or the classes of
	// family.Categorical, numbers as levels are written; nil: it held numbers.
	Classes []string
	// Chosen are the formulas that had a ".", with the terms that were chosen in its place, and
	// LeftOut the columns that got none of them, with the reasons; nil: there was no ".".
	Chosen, LeftOut []string
	// Warnings are sentences on what a user of the model should know; nil: nothing.
	Warnings []string
	// Additive has for each predictor the penalised additive model of its working response:
	// smoothing parameters, degrees of freedom, and the start of beta; nil for predictors
	// without formula terms.
	Additive []*decompose.Result

	evaluator evaluator
}
