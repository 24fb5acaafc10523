package network

import (
	"math"

	"github.com/pho-go/pho/adapters/native/internal/nn"
)

// Initialization is how weights and biases of hidden layers and heads are drawn. What
// each does is documented at native.Initialization.
type Initialization string

// The initialisations.
const (
	Narrow  Initialization = "narrow"
	PyTorch Initialization = "pytorch"
	Glorot  Initialization = "glorot"
	He      Initialization = "he"
)

// hidden is the variance of a hidden layer's weights times in, and the largest bias.
func (s Initialization) hidden(p *Plan, layer, in, out int) (gain, bias float64) {
	switch s {
	case Glorot:
		return glorot(in, out), 0
	case He:
		if a := p.Activation; a == nn.Relu || a == nn.ReluN || a == nn.Gelu {
			return 2, 0.2
		}
		return 1, 0.2
	}
	gain = 1. / 3
	if s != PyTorch && p.Deep && layer == 0 && p.Activation == nn.Relu {
		gain /= 4
	}
	return gain, 1 / math.Sqrt(float64(max(in, 1)))
}

// head is the variance of a head's weights times in.
func (s Initialization) head(p *Plan) float64 {
	switch s {
	case Glorot:
		return glorot(p.Units, len(p.Predictors))
	case He:
		return 0.1 / float64(p.Groups())
	}
	return 1. / 3
}

func glorot(in, out int) float64 { return 2 * float64(in) / float64(in+out) }
