package operator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// integerOps are products of matrices, and convolutions, of bytes about zero points. Their
// sums are computed in the engine's precision, in float64 exactly; as numbers of 32 bits,
// they wrap.
func integerOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		integerProductOp[T]("", "MatMulInteger", []int{10}, 2, 4, func(*graph.Check) (*integerProduct, error) {
			return &integerProduct{b: 1, zeroA: 2, zeroB: 3, to: graph.Int32}, nil
		}),
		integerProductOp[T]("", "QLinearMatMul", []int{10, 21}, 8, 8, func(c *graph.Check) (*integerProduct, error) {
			return &integerProduct{scaleA: 1, zeroA: 2, b: 3, scaleB: 4, zeroB: 5, scaleY: 6, zeroY: 7, alpha: 1, to: c.Inputs[7].Type}, nil
		}),
		integerProductOp[T]("com.microsoft", "QGemm", []int{1}, 6, 9, planQGemm),
		integerProductOp[T]("", "ConvInteger", []int{10}, 2, 4, func(*graph.Check) (*integerProduct, error) {
			return &integerProduct{b: 1, zeroA: 2, zeroB: 3, to: graph.Int32, conv: &convPlan{}}, nil
		}),
		integerProductOp[T]("", "QLinearConv", []int{10}, 8, 9, func(c *graph.Check) (*integerProduct, error) {
			return &integerProduct{scaleA: 1, zeroA: 2, b: 3, scaleB: 4, zeroB: 5, scaleY: 6, zeroY: 7, bias: 8, alpha: 1, to: c.Inputs[7].Type, conv: &convPlan{}}, nil
		}),
	}
}

func integerProductOp[T kernel.Float](domain, name string, versions []int, lo, hi int, plan func(*graph.Check) (*integerProduct, error)) Entry[T] {
	check := func(c *graph.Check) error {
		p, err := plan(c)
		if err != nil {
			return err
		}
		return p.check(c)
	}
	return Entry[T]{
		Operator: graph.Operator{Domain: domain, Name: name, Versions: versions, Min: lo, Max: hi, Outputs: 1, Check: check},
		Rule:     integerProductRule, Compile: compileIntegerProduct[T],
	}
}

// integerProduct is (a - zero points) (b - zero points) + bias, a being input 0. With
// scales it is multiplied by alpha and those of a and b, and, with a scale of its own,
// quantised again. Of the optional inputs 0 is none.
type integerProduct struct {
	b, bias               int
	zeroA, scaleA         int
	zeroB, scaleB         int
	zeroY, scaleY         int
	alpha                 float32
	transB                bool
	conv                  *convPlan // nil: a product of matrices
	to                    graph.DType
	shapeZeroA            []int // in which the zero points broadcast to a and b
	shapeZeroB            []int
	shapeBias             []int
	columns, inner        int // scales of b, at most, and how many numbers in a row have each
	widthA, widthB, width int
}

func (p *integerProduct) Scratch() int { return p.widthA + p.widthB + p.width }

func planQGemm(c *graph.Check) (*integerProduct, error) {
	p := &integerProduct{scaleA: 1, zeroA: 2, b: 3, scaleB: 4, zeroB: 5, bias: 6, scaleY: 7, zeroY: 8,
		alpha: float32(c.AttrFloat("alpha", 1)), transB: c.AttrInt("transB", 0) != 0, to: graph.Float32}
	switch {
	case c.AttrInt("transA", 0) != 0:
		return nil, errors.New("mixes rows: it sums over them (transA); quantise a model that has the rows first")
	case len(c.Inputs[0].Shape) != 2 || len(c.Inputs[3].Shape) != 2:
		return nil, errors.New("needs two matrices")
	case c.Has(7) != c.Has(8):
		return nil, errors.New("scale and zero point of the output belong together")
	case c.Has(8):
		p.to = c.Inputs[8].Type
	}
	return p, nil
}

func (p *integerProduct) check(c *graph.Check) error {
	for _, i := range []*int{&p.zeroA, &p.zeroB, &p.bias, &p.scaleY, &p.zeroY} {
		if !c.Has(*i) {
			*i = 0
		}
	}
	a, b := c.Inputs[0], c.Inputs[p.b]
	if !isByte(a.Type) || !isByte(b.Type) {
		return fmt.Errorf("the factors must be int8 or uint8, are %s and %s", a.Type, b.Type)
	}
	shape, work, err := p.shapes(c)
	if err != nil {
		return err
	}
	if err := p.checkScales(c, shape); err != nil {
		return err
	}
	p.widthA, p.widthB = a.Width(), b.Width()
	p.width, _ = graph.Elements(shape)
	c.Resolved = p
	if err := c.Set(0, p.to, shape); err != nil {
		return err
	}
	return c.MultiplyAdds(shape, work)
}

// shapes finds the shape of the output, how its columns lie, those of the zero points, and
// how many products an element sums.
func (p *integerProduct) shapes(c *graph.Check) (shape []int, work int, err error) {
	a, b := c.Inputs[0], c.Inputs[p.b]
	if p.conv != nil {
		return p.convShapes(c)
	}
	bs, column := b.Shape, len(b.Shape)-1
	if p.transB {
		if b.Const == nil {
			return nil, 0, fmt.Errorf("the second factor (%q) must be a constant where it is transposed", b.Name)
		}
		bs, column = []int{bs[1], bs[0]}, 0
	}
	if shape, work, err = productShape(a.Shape, bs); err != nil {
		return nil, 0, err
	}
	if p.shapeZeroA, err = zeroPoints(c, p.zeroA, a, len(a.Shape)-2); err != nil {
		return nil, 0, err
	}
	p.columns, p.inner = 1, 1
	if len(bs) > 1 && !graph.IsRows(bs[len(bs)-1]) {
		p.columns = bs[len(bs)-1]
	}
	p.shapeZeroB, err = zeroPoints(c, p.zeroB, b, column)
	return shape, work, err
}

func (p *integerProduct) convShapes(c *graph.Check) (shape []int, work int, err error) {
	x, w := c.Inputs[0], c.Inputs[p.b]
	if p.conv, shape, err = planConv(c, x.Shape, w.Shape); err != nil {
		return nil, 0, err
	}
	if p.shapeZeroA, err = zeroPoints(c, p.zeroA, x, -1); err != nil {
		return nil, 0, err
	}
	p.columns, p.inner = w.Shape[0], graph.Product(shape[2:])
	p.shapeZeroB, err = zeroPoints(c, p.zeroB, w, 0)
	return shape, w.Shape[1] * p.conv.points, err
}

func isByte(t graph.DType) bool { return t == graph.Int8 || t == graph.Uint8 }

// zeroPoints is the shape in which input i broadcasts to the factor v: one number, one for
// each position along axis, or one for each matrix of a stack. Without input i: one.
func zeroPoints(c *graph.Check, i int, v *graph.Value, axis int) ([]int, error) {
	if i == 0 {
		return []int{}, nil
	}
	z := c.Inputs[i]
	switch {
	case z.Type != v.Type:
		return nil, fmt.Errorf("the factor %q is %s, its zero point %s", v.Name, v.Type, z.Type)
	case z.BatchAxis() < 0 && z.Width() == 1 && len(z.Shape) <= 1:
		return []int{}, nil
	case len(z.Shape) == 1 && axis >= 0 && z.Shape[0] == v.Shape[axis]:
		shape := slices.Repeat([]int{1}, len(v.Shape)-axis)
		shape[0] = z.Shape[0]
		return shape, nil
	case len(z.Shape) == len(v.Shape) && broadcastsTo(z.Shape, v.Shape):
		return z.Shape, nil
	}
	return nil, fmt.Errorf("zero points of shape %s do not fit the factor %q of shape %s: export the model with one, or with one for each column of the weights", graph.ShapeText(z.Shape), v.Name, graph.ShapeText(v.Shape))
}

// broadcastsTo reports whether a tensor of shape in broadcasts to out as it is.
func broadcastsTo(in, out []int) bool {
	shape, err := graph.Broadcast(in, out)
	return err == nil && slices.Equal(shape, out)
}

// checkScales: scales and the output's zero point are constants, one number each; b's
// scale may be one for each column.
func (p *integerProduct) checkScales(c *graph.Check, shape []int) error {
	if p.scaleA == 0 {
		return nil
	}
	for _, i := range []int{p.scaleA, p.scaleB, p.scaleY, p.zeroY} {
		if i == 0 {
			continue
		}
		v := c.Inputs[i]
		perColumn := i == p.scaleB && len(v.Shape) == 1 && v.Shape[0] == p.columns
		if v.Const == nil || v.Width() != 1 && !perColumn || v.Type.Floating() != (i != p.zeroY) {
			return fmt.Errorf("input %d (%q) must be one constant number; of the weights' scales one for each column", i, v.Name)
		}
	}
	if p.zeroY != 0 && !isByte(p.to) {
		return fmt.Errorf("quantises to %s; int8 and uint8 are supported", p.to)
	}
	if p.bias == 0 {
		return nil
	}
	v := c.Inputs[p.bias]
	p.shapeBias = v.Shape
	if p.conv != nil && len(v.Shape) == 1 {
		p.shapeBias = slices.Repeat([]int{1}, len(shape)-1)
		p.shapeBias[0] = v.Shape[0]
	}
	if v.Type != graph.Int32 || v.BatchAxis() >= 0 || !broadcastsTo(p.shapeBias, shape) {
		return fmt.Errorf("the addend (%q) must be constant int32 of a shape that broadcasts to %s, is %s %s", v.Name, graph.ShapeText(shape), v.Type, graph.ShapeText(v.Shape))
	}
	return nil
}

// multipliers are alpha times the scales of a and b over that of the output, in float as
// runtimes compute them: one, or one for each column.
func (p *integerProduct) multipliers(n *graph.Node) []float32 {
	scaleA, scaleB := float32(n.Inputs[p.scaleA].Const.F[0]), n.Inputs[p.scaleB].Const.F
	m := make([]float32, len(scaleB))
	for i, s := range scaleB {
		m[i] = p.alpha * scaleA * float32(s)
		if p.scaleY != 0 {
			m[i] /= float32(n.Inputs[p.scaleY].Const.F[0])
		}
	}
	return m
}

// compileIntegerProduct: constant weights are packed once, their zero points taken off.
func compileIntegerProduct[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*integerProduct)
	none := []int64{0}
	zeros := func(x *Exec[T], i int) []int64 {
		if i == 0 {
			return none
		}
		return x.In[i].I
	}
	difference := lift(func(v, z int64) T { return T(v - z) })
	fixed := constantFactor[T](n, p)
	var packed []*kernel.Weights[T]
	var shapeB []int
	var lines *convLines
	var filters *kernel.Filters[T]
	switch {
	case p.conv != nil:
		lines = newConvLines(p.conv, n.Inputs[p.b].Shape, n.Inputs[0].Shape[2:], n.Outputs[0].Shape[2:])
		if fixed != nil {
			filters = packConv(lines, fixed, nil)
		}
	case fixed != nil:
		packed, shapeB = packIntegers(fixed, n.Inputs[p.b].Shape, p.transB)
	}
	finish := finishProduct[T](n, p)
	return func(x *Exec[T]) error {
		a, b := x.In[0], x.In[p.b]
		sizeA, sizeB, size, work, shape := len(a.I), 0, graph.Product(x.Out[0].Shape), 0, shapeB
		if fixed == nil {
			sizeB, shape = len(b.I), b.Shape
		}
		if lines != nil {
			work = lines.work(a.Shape[0])
		}
		buf := x.temp(sizeA + sizeB + size + work)
		left, right, sums := buf[:sizeA], buf[sizeA:sizeA+sizeB], buf[sizeA+sizeB:][:size]
		zip(left, a.Shape, a.I, a.Shape, zeros(x, p.zeroA), zeroShape(x, p.zeroA, p.shapeZeroA), difference)
		if fixed == nil {
			zip(right, b.Shape, b.I, b.Shape, zeros(x, p.zeroB), zeroShape(x, p.zeroB, p.shapeZeroB), difference)
		}
		if lines != nil {
			f := filters
			if f == nil {
				f = packConv(lines, right, nil)
			}
			convolve(lines, f, sums, left, buf[sizeA+sizeB+size:], false)
		} else {
			multiply(sums, Operand[T]{Shape: a.Shape, F: left}, Operand[T]{Shape: shape, F: right}, packed)
		}
		finish(x, sums)
		return nil
	}
}

// zeroShape is the shape of zero points at run time.
func zeroShape[T kernel.Float](x *Exec[T], i int, shape []int) []int {
	if i == 0 || !graph.HasRows(shape) {
		return shape
	}
	own := x.In[i].Shape
	if len(own) != len(shape) { // one for each row of a matrix
		own = slices.Concat(own, shape[1:])
	}
	return own
}

// constantFactor is b, its zero points taken off; nil if one of them is no constant.
func constantFactor[T kernel.Float](n *graph.Node, p *integerProduct) []T {
	b, zero := n.Inputs[p.b], []int64{0}
	if b.Const == nil || p.zeroB != 0 && n.Inputs[p.zeroB].Const == nil {
		return nil
	}
	if p.zeroB != 0 {
		zero = n.Inputs[p.zeroB].Const.I
	}
	f := make([]T, len(b.Const.I))
	zip(f, b.Shape, b.Const.I, b.Shape, zero, p.shapeZeroB, lift(func(v, z int64) T { return T(v - z) }))
	return f
}

// packIntegers prepares weights, and is their shape as a factor.
func packIntegers[T kernel.Float](f []T, shape []int, trans bool) ([]*kernel.Weights[T], []int) {
	if trans {
		shape = []int{shape[1], shape[0]}
	}
	_, m, _, _ := matrixShapes([]int{1}, shape)
	k, cols := m[len(m)-2], m[len(m)-1]
	packed := []*kernel.Weights[T]{}
	for i := range graph.Product(m[:len(m)-2]) {
		packed = append(packed, kernel.Pack(k, cols, f[i*k*cols:(i+1)*k*cols], trans))
	}
	return packed, shape
}

// finishProduct writes the sums as what the output is: numbers of 32 bits, floats, or
// short integers.
func finishProduct[T kernel.Float](n *graph.Node, p *integerProduct) func(x *Exec[T], sums []T) {
	if p.scaleA == 0 {
		return func(x *Exec[T], sums []T) {
			for i, s := range sums {
				x.Out[0].I[i] = int64(int32(int64(s)))
			}
		}
	}
	scale := p.multipliers(n)
	var r rounder
	zero := int64(0)
	if p.zeroY != 0 {
		r.to(p.to)
		zero = n.Inputs[p.zeroY].Const.I[0]
	}
	return func(x *Exec[T], sums []T) {
		out := x.Out[0]
		if p.bias != 0 {
			c := x.In[p.bias]
			addIntegers(sums, out.Shape, c.I, p.shapeBias)
		}
		for i, s := range sums {
			y := float32(int32(int64(s))) * scale[i/p.inner%len(scale)]
			if p.zeroY != 0 {
				out.I[i] = r.integer(y, zero)
			} else {
				out.F[i] = T(y)
			}
		}
	}
}

// addIntegers adds c, broadcast, to sums.
func addIntegers[T kernel.Float](sums []T, shape []int, c []int64, cShape []int) {
	var w walk
	w.plan(shape, cShape)
	w.each(func(o, j, _, _ int) {
		for i := range w.size[0] {
			sums[o+i] += T(c[j])
			j += w.stride[0][0]
		}
	})
}

// integerProductRule is that of the product or convolution, which is not linear: sums wrap,
// or are rounded. Whatever else is no constant enters every element.
func integerProductRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*integerProduct)
	if !ok {
		return opaque(n)
	}
	b := n.Inputs[p.b]
	if p.transB {
		b = &graph.Value{Name: b.Name, Type: b.Type, Shape: []int{b.Shape[1], b.Shape[0]}, Const: b.Const}
	}
	out := *n.Outputs[0]
	out.Type = graph.Float32
	as := &graph.Node{Op: n.Op, Attrs: n.Attrs, Inputs: []*graph.Value{n.Inputs[0], b}, Outputs: []*graph.Value{&out}}
	r := matMulRule
	if p.conv != nil {
		r = convRule
	}
	factors, number := r(as), [2]int{0, p.b}
	if factors.Each == nil {
		return factors
	}
	var others []int
	for i, v := range n.Inputs {
		if v != nil && v.Const == nil && i != 0 && i != p.b {
			others = append(others, i)
		}
	}
	return Rule{Cost: factors.Cost, Each: func(k, e int, yield Link) {
		factors.Each(k, e, func(in, ie int, _ float64) { yield(number[in], ie, 1) })
		for _, i := range others {
			for ie := range n.Inputs[i].Width() {
				yield(i, ie, 1)
			}
		}
	}}
}
