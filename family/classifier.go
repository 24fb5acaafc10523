package family

// Classifier is a family whose responses are classes: Categorical, Ordinal. Its deviance is
// -2 log-likelihood, whatever the number of predictors.
type Classifier interface {
	Family
	// Classes is how many there are.
	Classes() int
	// Place is the number of the class y, from 0, for a y that passed Check.
	Place(y float64) int
	// Class is the number of the most probable class.
	Class(eta []float64) int
}

// Ordered is a Classifier whose classes have an order: Ordinal.
type Ordered interface {
	Classifier
	// Levels are the responses that there are; nil: not known.
	Levels() []float64
	// Thresholds are those of the predictor between levels; nil: not known.
	Thresholds() []float64
}
