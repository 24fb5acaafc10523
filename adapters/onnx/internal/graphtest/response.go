package graphtest

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Response is the response function head of predictor k on the rows of eta, by the head's name: of a softmax, which normalises
// the predictors among, the probability of k or its logarithm; of ordered classes with these thresholds, that of the first.
func Response(head string, eta *mat.Dense, k int, among []int, thresholds []float64) []float64 {
	rows, _ := eta.Dims()
	name, offset, _ := strings.Cut(head, "+")
	c, _ := strconv.ParseFloat(offset, 64)
	beta := 1.0
	if inside, ok := strings.CutPrefix(name, "softplus(beta="); ok {
		beta, _ = strconv.ParseFloat(strings.TrimSuffix(inside, ")"), 64)
		name = "softplus"
	}
	out := make([]float64, rows)
	for r := range rows {
		x := eta.At(r, k)
		switch name {
		case "sigmoid":
			out[r] = 1 / (1 + math.Exp(-x))
		case "inv_cloglog":
			out[r] = 1 - math.Exp(-math.Exp(x))
		case "ordinal":
			out[r] = 1 / (1 + math.Exp(x-thresholds[0]))
		case "exp":
			out[r] = c + math.Exp(x)
		case "softplus":
			out[r] = c + (max(beta*x, 0)+math.Log1p(math.Exp(-math.Abs(beta*x))))/beta
		case "softmax", "logsoftmax":
			sum := 0.0
			for _, j := range among {
				sum += math.Exp(eta.At(r, j) - x)
			}
			if out[r] = 1 / sum; name == "logsoftmax" {
				out[r] = -math.Log(sum)
			}
		}
	}
	return out
}
