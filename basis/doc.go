// Package basis provides the terms of a structured predictor as mgcv has them (Wood
// 2017, chapter 5), and Parse, which turns a formula into term specifications. A
// Spec never changes. For each set of rows decompose.Prepare has it make a scanner,
// which looks at the data once (levels, ranges, quantiles), or twice if it is a
// decompose.Rescanner; the Term it builds is immutable and evaluates the same basis
// on any rows.
//
// Parametric terms:
//
//	x                          a number
//	g, factor(x)               a factor under treatment contrasts
//	factor(g, contr = "sum")   the same with coefficients that sum to 0
//	g:h, g:x, x:z              products; a factor has contrasts if the others'
//	                           product is a term too, as in R
//	ridge(a, b, c..f)          numbers under one ridge penalty, on columns of sd 1
//
// Smooths, with k=, m=, by=, sp=, fx=, pc=, id=, knots= and, if cyclic, period=:
//
//	s(x, bs = "tp")            tp, ts, cr, cs, cc, ps, cp, bs, and rbf
//	s(x, z)                    several columns: tp, ts, rbf
//	s(x, by = g)               one for each level; by = ordered(g): not for the first;
//	                           by = factor(x) of a column of numbers
//	s(g, bs = "re")            a ridge on every level; s(g, x, bs = "re") on slopes,
//	                           s(g, h, bs = "re") on combinations
//	s(x, g, bs = "fs", xt = "cr")  one for each level, all penalised; xt is their basis
//	te(x, z), ti(x, z)         tensor products; k=, bs= and m= for all margins or one
//	                           each, d= columns of each, np=, and mc= for ti; a margin
//	                           bs = "re" is a factor
//
// A bs of another package's is known where Options.Classes names it; see Class.
//
// Where this package leaves mgcv: the null spaces that cs shrinks and fs penalises
// have directions here (the line, then the constant) where mgcv takes what rounding
// gives it; id= links smoothing parameters and does not pool the data for knots.
package basis
