package operator

import (
	"fmt"
	"math"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// activation is a function that a recurrent operator names, with its numbers.
type activation struct {
	name        string
	alpha, beta float64
}

// activationNumbers is how many of alpha and beta an activation takes (one or none each),
// and what they are by default; NaN: that is not agreed on.
func activationNumbers(name string) (alphas, betas int, alpha, beta float64, ok bool) {
	switch name {
	case "relu", "tanh", "sigmoid", "softsign", "softplus":
		return 0, 0, 0, 0, true
	case "leakyrelu":
		return 1, 0, 0.01, 0, true
	case "elu":
		return 1, 0, 1, 0, true
	case "thresholdedrelu":
		return 1, 0, math.NaN(), 0, true // 1 in the standard, 0 in ONNX Runtime
	case "hardsigmoid":
		return 1, 1, 0.2, 0.5, true
	case "scaledtanh", "affine":
		return 1, 1, math.NaN(), math.NaN(), true // none in the standard
	}
	return 0, 0, 0, 0, false
}

// readActivations reads the functions of all directions. Lists of numbers are used up in
// the order of the functions that take one.
func readActivations(c *graph.Check, kind recurrentKind, dirs int) ([]activation, error) {
	each := [...][]string{{"Tanh"}, {"Sigmoid", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}}[kind]
	names := c.Attrs["activations"].Strings
	if len(names) == 0 {
		for range dirs {
			names = append(names, each...)
		}
	}
	if len(names) != dirs*len(each) {
		return nil, fmt.Errorf("attribute \"activations\" names %d functions, needs %d", len(names), dirs*len(each))
	}
	alphas, betas := c.Attrs["activation_alpha"].Floats, c.Attrs["activation_beta"].Floats
	next := func(list *[]float64, count int, def float64) float64 {
		if count == 0 || len(*list) == 0 {
			return def
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
	out := make([]activation, len(names))
	for i, name := range names {
		name = strings.ToLower(name)
		na, nb, a, b, ok := activationNumbers(name)
		if !ok {
			return nil, fmt.Errorf("unknown activation %q", names[i])
		}
		out[i] = activation{name, next(&alphas, na, a), next(&betas, nb, b)}
		if math.IsNaN(out[i].alpha) || math.IsNaN(out[i].beta) {
			return nil, fmt.Errorf("activation %q is given no alpha or beta, and there is no default that all engines share; export the model with attributes activation_alpha and activation_beta", names[i])
		}
	}
	return out, nil
}

// loopOf is the run of an activation over numbers; dst may be src.
func loopOf[T kernel.Float](f activation) func(dst, src []T) {
	a, b := f.alpha, f.beta
	switch f.name {
	case "relu":
		return kernel.Relu[T]
	case "tanh":
		return kernel.Tanh[T]
	case "sigmoid":
		return kernel.Sigmoid[T]
	case "softsign":
		return kernel.Softsign[T]
	case "softplus":
		return kernel.Softplus[T]
	case "leakyrelu":
		return func(dst, src []T) { kernel.LeakyRelu(dst, src, T(a)) }
	case "elu":
		return func(dst, src []T) { kernel.Elu(dst, src, T(a)) }
	case "thresholdedrelu":
		return each[T](func(x float64) float64 {
			if x > a || math.IsNaN(x) {
				return x
			}
			return 0
		})
	case "hardsigmoid":
		return func(dst, src []T) { kernel.HardSigmoid(dst, src, T(a), T(b)) }
	case "scaledtanh":
		return func(dst, src []T) {
			kernel.Mul(dst, src, []T{T(b)})
			kernel.Tanh(dst, dst)
			kernel.Mul(dst, dst, []T{T(a)})
		}
	}
	return each[T](func(x float64) float64 { return float64(a*x) + b }) // affine
}
