package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// depthOps move squares of pixels into channels and back.
func depthOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "DepthToSpace", Versions: []int{1, 11, 13, 28}, Min: 1, Max: 1, Outputs: 1, Check: checkDepthToSpace, Moves: movesFirst},
			Rule: regroupRule, Compile: compileRegroup[T]},
		{Operator: graph.Operator{Name: "SpaceToDepth", Versions: []int{1, 13, 28}, Min: 1, Max: 1, Outputs: 1, Check: checkSpaceToDepth, Moves: movesFirst},
			Rule: regroupRule, Compile: compileRegroup[T]},
	}
}

// regrouping is a transposition of one row's tensor seen with five axes:
// sizes and strides in the input, in the order of the output.
type regrouping struct{ size, stride []int }

// regroup takes the axes of size apart and reads them in the order of perm.
func regroup(size []int, perm ...int) *regrouping {
	r := &regrouping{}
	dense := rowMajor(size)
	for _, p := range perm {
		r.size, r.stride = append(r.size, size[p]), append(r.stride, dense[p])
	}
	return r
}

// blocks checks [rows, channels, height, width] and the block size b, and whether the
// order is column-row-depth.
func blocks(c *graph.Check) (in []int, b int, columnFirst bool, err error) {
	in = c.Inputs[0].Shape
	if len(in) != 4 {
		return nil, 0, false, fmt.Errorf("needs [rows, channels, height, width], has %s", graph.ShapeText(in))
	}
	if _, err := imageAxes(c, 1); err != nil {
		return nil, 0, false, err
	}
	if err := movable(c); err != nil {
		return nil, 0, false, err
	}
	k := c.AttrInt("blocksize", 0)
	if k < 1 || k > 1<<20 {
		return nil, 0, false, fmt.Errorf("impossible blocksize %d", k)
	}
	switch mode := c.Attrs["mode"].String; mode {
	case "", "DCR":
	case "CRD":
		columnFirst = true
	default:
		return nil, 0, false, fmt.Errorf("mode %q is neither DCR nor CRD", mode)
	}
	return in, int(k), columnFirst, nil
}

func checkDepthToSpace(c *graph.Check) error {
	in, b, columnFirst, err := blocks(c)
	if err != nil {
		return err
	}
	if in[1]%(b*b) != 0 {
		return fmt.Errorf("%d channels are no multiple of the block size %d squared", in[1], b)
	}
	depth := in[1] / (b * b)
	if columnFirst {
		c.Resolved = regroup([]int{depth, b, b, in[2], in[3]}, 0, 3, 1, 4, 2)
	} else {
		c.Resolved = regroup([]int{b, b, depth, in[2], in[3]}, 2, 3, 0, 4, 1)
	}
	return c.Set(0, c.Inputs[0].Type, []int{in[0], depth, in[2] * b, in[3] * b})
}

func checkSpaceToDepth(c *graph.Check) error {
	in, b, columnFirst, err := blocks(c)
	if err != nil {
		return err
	}
	if in[2]%b != 0 || in[3]%b != 0 {
		return fmt.Errorf("image %s is no multiple of the block size %d", graph.ShapeText(in), b)
	}
	h, w := in[2]/b, in[3]/b
	if columnFirst {
		c.Resolved = regroup([]int{in[1], h, b, w, b}, 0, 2, 4, 1, 3)
	} else {
		c.Resolved = regroup([]int{in[1], h, b, w, b}, 2, 4, 0, 1, 3)
	}
	return c.Set(0, c.Inputs[0].Type, []int{in[0], in[1] * b * b, h, w})
}

func compileRegroup[T kernel.Float](n *graph.Node) Step[T] {
	r := n.Resolved.(*regrouping)
	width := graph.Product(r.size)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		if width == 0 {
			return nil
		}
		for row := 0; row < in.Shape[0]*width; row += width {
			if out.F != nil {
				strided(out.F[row:row+width], in.F, row, r.size, r.stride)
			} else {
				strided(out.I[row:row+width], in.I, row, r.size, r.stride)
			}
		}
		return nil
	}
}

func regroupRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(*regrouping)
	if !ok {
		return opaque(n)
	}
	width, c := graph.Product(r.size), make([]int, len(r.size))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e%width, r.size, c)
		j := e / width * width
		for i, k := range c {
			j += k * r.stride[i]
		}
		yield(0, j, 1)
	}}
}
