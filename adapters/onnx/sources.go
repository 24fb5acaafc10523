package onnx

import "github.com/pho-go/pho/internal/base/kernel"

// source is where a number of one row comes from: element index of tensor want[tensor].
type source struct{ tensor, index int }

// stretch is n neighbouring numbers of one row, from s on.
type stretch struct {
	source
	n int
}

// stretches joins neighbours, so that whole layers are copied at once.
func stretches(from []source) []stretch {
	var out []stretch
	for _, s := range from {
		if i := len(out) - 1; i >= 0 && out[i].tensor == s.tensor && out[i].index+out[i].n == s.index {
			out[i].n++
			continue
		}
		out = append(out, stretch{s, 1})
	}
	return out
}

// share is what a stretch adds to zeta.
type share struct {
	stretch
	gamma   []float64
	product *kernel.Weights[float64] // gamma, if there is enough of it
}

// longStretch is how many numbers of a row are worth a product; a block of rows gains
// from fewer, a single row does not.
const longStretch = 16

// shares splits sum gamma_j u_j at the stretches of u.
func shares(u []source, gamma []float64) []share {
	var out []share
	for _, s := range stretches(u) {
		p := share{stretch: s, gamma: gamma[:s.n]}
		if s.n >= longStretch {
			p.product = kernel.Pack(s.n, 1, p.gamma, false)
		}
		out, gamma = append(out, p), gamma[s.n:]
	}
	return out
}

type tapSources struct {
	name  string
	width int
	from  []stretch
}
