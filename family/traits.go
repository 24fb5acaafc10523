package family

// Traits are what figures and training ask of a family beyond its likelihood. The zero
// value is that of a family that says nothing.
// They are stated by the family so that nobody but Parse lists families or asks for their type.
type Traits struct {
	// Location: the mean, or for heavy tails the median, is the first predictor.
	Location bool
	// Affine: while predictors after the first are held, the difference of the deviances of
	// two first ones is an affine function of the response, as in exponential families.
	Affine bool
	// Units: the family stays the same if the response is shifted, and scaled by c > 0,
	// whereby the first predictor is too and the second, if there is one, grows by log c.
	Units bool
	// Ratio: it stays the same, but for the dispersion, if the response is scaled by c > 0,
	// whereby the first predictor grows by log c.
	Ratio bool
	// LeastSquares: the largest likelihood is the least sum of squares.
	LeastSquares bool
	// Binary: responses are one of two classes, which may have names, or shares of the second.
	Binary bool
	// Nominal: responses are classes without an order, which may have names, and each has a
	// predictor, but for one that others may be differences to.
	Nominal bool
}

// TraitsOf are those that f states by a method Traits, else none.
func TraitsOf(f Family) Traits {
	if f, ok := f.(interface{ Traits() Traits }); ok {
		return f.Traits()
	}
	return Traits{}
}
