// Package drift keeps what a decomposition's parts are like in one period after the other, and
// says by how much the mean and the variance of the prediction changed between two of them, and
// through which terms.
//
// The functions stay as they were decomposed, so what changes is the rows: the mean of a term
// moves because its columns are distributed otherwise, that of the unstructured part because of
// anything else that the network reads. The parts of a row sum to the predictor, so
//
//	mean_B - mean_A         = sum over parts of (mean_B - mean_A)
//	variance_B - variance_A = sum over parts of (Cov_B(part, eta) - Cov_A(part, eta))
//
// exactly. Each change has a test (Compare).
//
// A State holds, for each period, sums over its rows of the parts, their products, and what the
// standard errors of both need: O(J^2) numbers for J terms, however many rows. The sums of
// sources are added exactly (no rounding, whatever the order), so states merge in any order to
// the same bytes.
package drift
