// Package native trains additive networks in Go: semi-structured networks (formula terms
// with their penalties plus a deep part), neural additive models, multilayer perceptrons
// and, without networks, additive models. Train takes a Config and rows; the Model that it
// returns is a decompose.Model, and WriteONNX saves it.
//
// The predictor k of row i is
//
//	eta_k = intercept_k + X_k beta_k + sum_j f_jk(x_j) + zeta_k,   zeta = U gamma
//
// with X the evaluated columns of the formula, f_j feature networks whose last
// hidden layer is a learned basis, and U the last hidden layer of the deep part.
// Training minimises
//
//	-(1/W) sum_i loglik(y_i; eta_i) + 1/(2W) sum_j lambda_j beta'S_j beta + other penalties,
//
// W the sum of weights, by mini-batches. Rows are held in memory.
//
// What a Config means and the loop over epochs are here. What the loop drives, in internal, knows
// no Config: the network, the additive model that it starts from, the likelihood, the ONNX file.
package native
