package onnxfile

import (
	"fmt"

	"github.com/pho-go/pho/adapters/native/internal/nn"
)

// layers writes the layers of group g and returns the last one's output.
func (w *writer) layers(name, x string, layers []nn.Layer[float64], g int) string {
	for l, layer := range layers {
		at := fmt.Sprintf("%s.%d", name, l)
		switch layer := layer.(type) {
		case *nn.Dense[float64]:
			x = w.dense(at, x, layer, g)
		case *nn.ExU[float64]:
			x = w.dense(at, x, layer.Effective(), g)
		case *nn.BatchNorm[float64]:
			x = w.batchNorm(at, x, layer)
		case *nn.Activation[float64]:
			x = w.activation(at, x, layer)
		}
	}
	return x
}

func (w *writer) dense(at, x string, d *nn.Dense[float64], g int) string {
	weight := w.constant(at+".weight", []int{d.In, d.OutEach}, d.W.Value[g*d.In*d.OutEach:][:d.In*d.OutEach]...)
	bias := w.constant(at+".bias", []int{d.OutEach}, d.B.Value[g*d.OutEach:][:d.OutEach]...)
	x = w.node("Gemm", at+".linear", []string{x, weight, bias})
	if d.Relu {
		x = w.node("Relu", at+".relu", []string{x})
	}
	return x
}

func (w *writer) batchNorm(at, x string, b *nn.BatchNorm[float64]) string {
	scale, shift := b.Affine()
	x = w.node("Mul", at+".scaled", []string{x, w.constant(at+".scale", []int{b.Width}, scale...)})
	return w.node("Add", at+".normed", []string{x, w.constant(at+".shift", []int{b.Width}, shift...)})
}

func (w *writer) activation(at, x string, a *nn.Activation[float64]) string {
	out := at + "." + string(a.F)
	switch a.F {
	case nn.Relu:
		return w.node("Relu", out, []string{x})
	case nn.ReluN:
		return w.node("Clip", out, []string{x, w.constant(at+".low", nil, 0), w.constant(at+".high", nil, a.N)})
	case nn.Tanh:
		return w.node("Tanh", out, []string{x})
	case nn.Sigmoid:
		return w.node("Sigmoid", out, []string{x})
	case nn.Softplus:
		return w.node("Softplus", out, []string{x})
	}
	// GELU: x (1 + erf(x/sqrt 2))/2.
	root := w.node("Mul", at+".root", []string{x, w.constant(at+".sqrt", nil, 0.70710678118654752440)})
	erf := w.node("Erf", at+".erf", []string{root})
	one := w.node("Add", at+".one", []string{erf, w.constant(at+".unit", nil, 1)})
	half := w.node("Mul", at+".half", []string{one, w.constant(at+".factor", nil, 0.5)})
	return w.node("Mul", out, []string{x, half})
}
