// Package basis provides the terms of a structured predictor: linear columns,
// factors and spline smooths as mgcv has them (Wood 2017, chapter 5), and Parse,
// which turns a formula into term specifications. A Spec looks at the data once
// (levels, ranges, quantiles); the Term it builds is immutable and evaluates the
// same basis on any rows.
package basis
