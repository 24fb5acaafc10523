// Package importance says how much a decomposed model owes to each feature:
// explained variance, and what the response's likelihood and deviance lose when
// a feature's structured contributions are left out (Rügamer 2023, the section
// on feature importance).
//
// Nothing is fitted again: dropping a feature sets its centred contributions to
// zero, in every predictor, and leaves the rest as it is, the unstructured part
// included. So a figure may be negative: the model would have done better on
// these rows without the feature.
package importance
