package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Split prepares k x n weights, or n x k if trans, for matrix units (kernel.PackSplit); nil where
// that is not possible or does not pay.
type Split func(k, n int, w []float32, trans bool) *kernel.SplitWeights

// OnMatrixUnits is the step of a node that multiplies rows by constant weights, on matrix units: of
// a Gemm or MatMul, or of a convolution that is such a product in each group. All rows go that way,
// so that a row's result does not depend on how many there are. nil: vectors it is.
func OnMatrixUnits(n *graph.Node, split Split) Step[float32] {
	if key := n.Key(); key != "Gemm" && key != "MatMul" && key != "Conv" || n.Inputs[1].Const == nil || !n.Outputs[0].Type.Floating() {
		return nil
	}
	if _, column := n.Resolved.(Column); column {
		return nil
	}
	p := splitProduct{groups: make([]*kernel.SplitWeights, 1)}
	shape, w := n.Inputs[1].Shape, Floats[float32](n.Inputs[1])
	switch {
	case n.Key() == "Gemm" && n.AttrInt("transA", 0) == 0:
		if alpha := float32(n.AttrFloat("alpha", 1)); alpha != 1 {
			scaled := make([]float32, len(w))
			kernel.Mul(scaled, w, []float32{alpha})
			w = scaled
		}
		trans := n.AttrInt("transB", 0) != 0
		p.k, p.n = shape[0], shape[1]
		if trans {
			p.k, p.n = p.n, p.k
		}
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			var perColumn bool
			if p.bias, perColumn = columnBias(n.Inputs[2], p.n, float32(n.AttrFloat("beta", 1))); !perColumn {
				return nil
			}
		}
		p.groups[0] = split(p.k, p.n, w, trans)
	case n.Key() == "MatMul" && len(shape) == 2 && len(n.Inputs[0].Shape) > 1:
		p.k, p.n = shape[0], shape[1]
		if withBias(n) {
			p.bias = Floats[float32](n.Inputs[2])
		}
		p.groups[0] = split(p.k, p.n, w, false)
	case n.Key() == "Conv" && isPointwise(n):
		p.groups = make([]*kernel.SplitWeights, n.Resolved.(*convPlan).group)
		p.k, p.n = shape[1], shape[0]/len(p.groups)
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			if n.Inputs[2].Const == nil {
				return nil
			}
			p.bias = Floats[float32](n.Inputs[2])
		}
		for g := range p.groups {
			p.groups[g] = split(p.k, p.n, w[g*p.k*p.n:(g+1)*p.k*p.n], true)
		}
	}
	for _, w := range p.groups {
		if w == nil {
			return nil
		}
	}
	return p.run
}

// splitProduct multiplies rows, k values for each group, by the group's weights.
type splitProduct struct {
	groups []*kernel.SplitWeights
	k, n   int
	bias   []float32 // of all groups; nil: none
}

func (p *splitProduct) run(x *Exec[float32]) error {
	a, c := x.In[0].F, x.Out[0].F
	if x.Source.Rows != nil { // an input that vectors would take piece by piece
		x.Source.Enter(a, x.Source.Rows)
	}
	lda, ldc := p.k*len(p.groups), p.n*len(p.groups)
	rows := len(a) / lda
	scratch := x.temp(p.groups[0].Scratch())
	for g, w := range p.groups {
		var bias []float32
		if p.bias != nil {
			bias = p.bias[g*p.n : (g+1)*p.n]
		}
		if x.Relu {
			w.MulRelu(c[g*p.n:], ldc, a[g*p.k:], lda, rows, bias, scratch)
		} else {
			w.Mul(c[g*p.n:], ldc, a[g*p.k:], lda, rows, bias, scratch)
		}
	}
	return nil
}
