// Package interaction asks what is left of a network once its structured terms are taken
// out: which pairs of columns the remainder depends on, and where it is largest.
//
// The remainder r of a predictor is the unstructured part of every row, w the row's weight.
// Two looks at the rows, and one at some that are kept:
//
//  1. A Sample of the rows, before anything is fitted, says how the values of each column
//     are spread. Columns become bins and ranks by it.
//  2. In the last pass of a decomposition, tables of 8 x 8 bins for all pairs: sum w,
//     sum w r, sum w^2 r^2. A pair's score is what products of Legendre polynomials in
//     the ranks, less all that is a function of one of the columns, explain of r. Pairs
//     are tested by a sandwich, since r is not equally large everywhere.
//  3. Where pairs pass, exact products of the best ones with each other and with functions of single
//     columns, of 16,384 rows that the last pass has kept. Pairs are then chosen one after the other,
//     each by its gain over the pairs before. That tells a pair from its echoes: with columns that
//     correlate, (0,2) scores because (0,1) matters.
//
// The score holds noise as well as signal, so the expected score of pure noise is subtracted, and the
// share of noise that the fitted terms have taken from the same rows is divided out. Nothing is claimed
// of a pair that chance could explain: "none can be told" is an answer.
//
// Functions are polynomials in ranks: splines on the columns' own scale foretell gains no better,
// and show more false pairs in the tails. Exact products of all rows would take a third of a
// decomposition, and tell no more.
package interaction
