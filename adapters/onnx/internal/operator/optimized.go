package operator

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// optimizedOps are what ONNX Runtime puts in the place of several nodes when it writes a
// network that it has optimised, of its domain com.microsoft.
func optimizedOps[T kernel.Float]() []Entry[T] {
	op := func(name string, lo, hi, outputs int, check func(*graph.Check) error) graph.Operator {
		return graph.Operator{Domain: "com.microsoft", Name: name, Versions: []int{1}, Min: lo, Max: hi, Outputs: outputs, AnyLayout: true, Check: check}
	}
	curve := func(name string, run func(n *graph.Node) func(dst, src []T)) Entry[T] {
		e := unary("", nil, run)
		e.Operator = op(name, 1, 1, 1, checkFloating)
		return e
	}
	simplified := op("SimplifiedLayerNormalization", 2, 2, 1, checkRMSNorm)
	simplified.Domain = "" // so it writes it
	return []Entry[T]{
		{Operator: op("FusedMatMul", 2, 2, 1, checkFusedMatMul), Rule: fusedMatMulRule, Compile: compileFusedMatMul[T], Weighs: true},
		{Operator: op("FusedGemm", 2, 3, 1, checkFusedGemm[T]), Rule: fusedGemmRule, Compile: compileFusedGemm[T]},
		curve("Gelu", func(*graph.Node) func(dst, src []T) { return kernel.Gelu[T] }),
		curve("QuickGelu", func(n *graph.Node) func(dst, src []T) {
			a := T(n.AttrFloat("alpha", float64(float32(1.702))))
			return func(dst, src []T) { swish(dst, src, a) }
		}),
		{Operator: op("BiasGelu", 2, 2, 1, checkBiasGelu), Rule: elementwiseRule, Compile: compileBiasGelu(kernel.Gelu[T]), InPlace: true},
		{Operator: op("FastGelu", 1, 2, 1, checkBiasGelu), Rule: elementwiseRule, Compile: compileBiasGelu(kernel.GeluTanh[T]), InPlace: true},
		{Operator: op("SkipLayerNormalization", 3, 5, 4, checkSkipNorm(4)), Rule: skipNormRule, Compile: compileSkipNorm[T](4)},
		{Operator: op("SkipSimplifiedLayerNormalization", 3, 4, 4, checkSkipNorm(3)), Rule: skipNormRule, Compile: compileSkipNorm[T](3)},
		{Operator: simplified, Rule: layerNormRule, Compile: compileRMSNorm[T]},
	}
}

// fusedProduct is a FusedMatMul's operands as MatMul would have them.
type fusedProduct struct {
	a, b           []int // shapes, with transposed matrices already turned
	transA, transB bool
	lastA, lastB   bool // the first axis moves behind the stack's: transBatchA, transBatchB
	work           int
}

func (p *fusedProduct) Scratch() int { return p.work }

func checkFusedMatMul(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	p := &fusedProduct{transA: c.AttrInt("transA", 0) != 0, transB: c.AttrInt("transB", 0) != 0,
		lastA: c.AttrInt("transBatchA", 0) != 0, lastB: c.AttrInt("transBatchB", 0) != 0}
	for i, v := range c.Inputs {
		shape, turned := slices.Clone(v.Shape), i == 0 && p.transA || i == 1 && p.transB
		if len(shape) < 2 {
			return fmt.Errorf("input %d (%q) of shape %s is no matrix", i, v.Name, graph.ShapeText(shape))
		}
		if i == 0 && p.lastA || i == 1 && p.lastB {
			shape = firstBehindStack(shape)
			p.work += v.Width()
		}
		if n := len(shape); turned {
			shape[n-2], shape[n-1] = shape[n-1], shape[n-2]
			size, _ := graph.Elements(shape[n-2:])
			p.work += size
		}
		if i == 0 {
			p.a = shape
		} else {
			p.b = shape
		}
	}
	m, k, n := p.a[len(p.a)-2], p.a[len(p.a)-1], p.b[len(p.b)-1]
	if err := contraction(k, p.b[len(p.b)-2], p.a, p.b); err != nil {
		return err
	}
	stack, err := graph.Broadcast(p.a[:len(p.a)-2], p.b[:len(p.b)-2])
	if err != nil {
		return err
	}
	out := append(slices.Clone(stack), m, n)
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	c.Resolved = p
	return c.MultiplyAdds(out, k)
}

// compileFusedMatMul is alpha A'B', matrix by matrix. With one constant matrix B it is one
// product with prepared weights.
func compileFusedMatMul[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*fusedProduct)
	alpha := T(n.AttrFloat("alpha", 1))
	if n.Inputs[1].Const != nil && len(p.b) == 2 && !p.transA && !p.lastA {
		k, cols := p.b[0], p.b[1]
		packed := kernel.Pack(k, cols, Floats[T](n.Inputs[1]), p.transB)
		if alpha != 1 {
			packed.Scale(alpha)
		}
		packed.SkipZeros()
		return func(x *Exec[T]) error {
			as := x.In[0].Shape
			packed.Mul(x.Out[0].F, cols, x.In[0].F, k, graph.Product(as[:len(as)-1]), nil)
			return nil
		}
	}
	scale := []T{alpha}
	return func(x *Exec[T]) error {
		a, b, out := x.In[0], x.In[1], x.Out[0]
		temp := x.temp(p.work * x.Rows)
		if p.lastA {
			a, temp = moveFirst(a, temp)
		}
		if p.lastB {
			b, temp = moveFirst(b, temp)
		}
		ra, rb := len(a.Shape), len(b.Shape)
		rows, cols, k := out.Shape[len(out.Shape)-2], out.Shape[len(out.Shape)-1], a.Shape[ra-1]
		if p.transA {
			k = a.Shape[ra-2]
		}
		var turnedA, turnedB []T
		if p.transA {
			turnedA, temp = temp[:rows*k], temp[rows*k:]
		}
		if p.transB {
			turnedB = temp[:k*cols]
		}
		var stack [graph.MaxRank]int
		lead := broadcastSizes(stack[:0], a.Shape[:ra-2], b.Shape[:rb-2])
		var w walk
		w.plan(lead, a.Shape[:ra-2], b.Shape[:rb-2])
		w.each(func(o, i, j, _ int) {
			for range w.size[0] {
				am, bm := a.F[i*rows*k:(i+1)*rows*k], b.F[j*k*cols:(j+1)*k*cols]
				if p.transA {
					transposeMatrix(turnedA, am, k, rows)
					am = turnedA
				}
				if p.transB {
					transposeMatrix(turnedB, bm, cols, k)
					bm = turnedB
				}
				c := out.F[o*rows*cols : (o+1)*rows*cols]
				kernel.Gemm(c, am, bm, rows, cols, k)
				if alpha != 1 {
					kernel.Mul(c, c, scale)
				}
				o, i, j = o+1, i+w.stride[0][0], j+w.stride[1][0]
			}
		})
		return nil
	}
}

// firstBehindStack is [b.. m k] of [m b.. k].
func firstBehindStack(shape []int) []int {
	last := len(shape) - 1
	return append(append(slices.Clone(shape[1:last]), shape[0]), shape[last])
}

// moveFirst copies a tensor to temp in the order of firstBehindStack, and returns what is
// left of temp.
func moveFirst[T kernel.Float](in Operand[T], temp []T) (Operand[T], []T) {
	var buf [graph.MaxRank]int
	moved := Operand[T]{Shape: firstBehindStack(in.Shape), F: temp[:len(in.F)]}
	stridedTensor(moved, in, 0, firstBehindStack(denseStrides(buf[:0], in.Shape)))
	return moved, temp[len(in.F):]
}

// fusedMatMulRule is matMulRule on turned matrices.
func fusedMatMulRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*fusedProduct)
	if !ok {
		return opaque(n)
	}
	a, b := n.Inputs[0], n.Inputs[1]
	da, db := graph.AtRows(nil, p.a, 1), graph.AtRows(nil, p.b, 1)
	ra, rb := len(da), len(db)
	rows, inner, cols := da[ra-2], da[ra-1], db[rb-1]
	stack := broadcastDims(da[:ra-2], db[:rb-2])
	atA, okA := broadcastIndex(da[:ra-2], stack)
	atB, okB := broadcastIndex(db[:rb-2], stack)
	if !okA || !okB {
		return opaque(n)
	}
	alpha := n.AttrFloat("alpha", 1)
	fromA, fromB := place(a, p.lastA), place(b, p.lastB)
	return Rule{Linear: linearProduct(n), Cost: 2 * inner, Each: func(_, e int, yield Link) {
		s, i, j := e/(rows*cols), e/cols%rows, e%cols
		for k := range inner {
			ia, ib := i*inner+k, k*cols+j
			if p.transA {
				ia = k*rows + i
			}
			if p.transB {
				ib = j*inner + k
			}
			yieldProduct(a, b, alpha, fromA(atA(s)*rows*inner+ia), fromB(atB(s)*inner*cols+ib), yield)
		}
	}}
}

// place maps an element in the order of firstBehindStack, if moved, to the tensor's own.
func place(v *graph.Value, moved bool) func(int) int {
	if !moved {
		return func(e int) int { return e }
	}
	shape := v.RowShape()
	size, stride := firstBehindStack(shape), firstBehindStack(rowMajor(shape))
	c := make([]int, len(size))
	return func(e int) int {
		unravel(e, size, c)
		at := 0
		for i, k := range c {
			at += k * stride[i]
		}
		return at
	}
}

// checkFusedGemm: a Gemm and the activation behind it.
func checkFusedGemm[T kernel.Float](c *graph.Check) error {
	if fusedActivation[T](c.Node) == nil {
		return fmt.Errorf("activation %q is not supported; use the network as it was exported, before ONNX Runtime optimised it", c.Attrs["activation"].String)
	}
	return checkGemm(c)
}

// fusedActivation is the operator of that name, on the output of n, with its parameters.
func fusedActivation[T kernel.Float](n *graph.Node) Step[T] {
	name := n.Attrs["activation"].String
	entries := activationOps[T]()
	i := slices.IndexFunc(entries, func(e Entry[T]) bool { return e.Name == name && !e.Jumps && e.Versions[0] < 20 })
	if i < 0 {
		return nil
	}
	attrs := map[string]graph.Attr{}
	for _, p := range []string{"alpha", "beta", "gamma"} {
		if a, ok := n.Attrs["activation_"+p]; ok {
			attrs[p] = a
		}
	}
	return entries[i].Compile(&graph.Node{Op: name, Attrs: attrs, Inputs: n.Outputs, Outputs: n.Outputs})
}

func compileFusedGemm[T kernel.Float](n *graph.Node) Step[T] {
	plain := *n
	plain.Attrs = maps.Clone(n.Attrs)
	product, act := compileGemm[T](&plain), fusedActivation[T](n)
	return func(x *Exec[T]) error {
		if err := product(x); err != nil {
			return err
		}
		return act(&Exec[T]{In: x.Out[:1], Out: x.Out[:1], Rows: x.Rows, scratch: x.scratch})
	}
}

func fusedGemmRule(n *graph.Node) Rule {
	r := gemmRule(n)
	r.Linear = false
	return r
}

// checkBiasGelu: the second input is a bias for each entry of the last axis.
func checkBiasGelu(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	shape := c.Inputs[0].Shape
	if c.Has(1) && (len(shape) == 0 || !slices.Equal(c.Inputs[1].Shape, shape[len(shape)-1:]) || graph.HasRows(c.Inputs[1].Shape)) {
		return fmt.Errorf("the bias (%q) of shape %s does not fit the last axis of %s", c.Inputs[1].Name, graph.ShapeText(c.Inputs[1].Shape), graph.ShapeText(shape))
	}
	return c.Set(0, c.Inputs[0].Type, shape)
}

func compileBiasGelu[T kernel.Float](run func(dst, src []T)) func(*graph.Node) Step[T] {
	return func(*graph.Node) Step[T] {
		return func(x *Exec[T]) error {
			in, out := x.In[0], x.Out[0]
			if len(x.In) > 1 && x.In[1].F != nil {
				zip(out.F, out.Shape, in.F, in.Shape, x.In[1].F, x.In[1].Shape, kernel.Add[T])
				in = out
			}
			run(out.F, in.F)
			return nil
		}
	}
}
