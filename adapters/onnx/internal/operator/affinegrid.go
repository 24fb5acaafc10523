package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// affineGridOps make grids to sample images at.
func affineGridOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "AffineGrid", Versions: []int{20}, Min: 2, Max: 2, Outputs: 1, Check: checkAffineGrid, SizeInputs: []int{1}},
			Rule: affineGridRule, Compile: compileAffineGrid[T]},
	}
}

// affineGrid is the points that a matrix of each row maps.
type affineGrid struct {
	points []float64 // of d+1 coordinates, the last of which is 1
	d      int
}

func checkAffineGrid(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	theta := c.Inputs[0].Shape
	size, err := targetShape(c, 1, nil)
	if err != nil {
		return err
	}
	d := len(size) - 2
	if d != 2 && d != 3 || len(theta) != 3 || theta[1] != d || theta[2] != d+1 {
		return fmt.Errorf("size %s does not fit theta %s", graph.ShapeText(size), graph.ShapeText(theta))
	}
	if theta[0] == graph.Batch && size[0] == 1 && c.TracedWithOneRow() {
		size[0] = graph.Batch
	}
	if size[0] != theta[0] {
		return fmt.Errorf("has matrices for %s and a size for %s rows; export the model with a dynamic batch axis", graph.ShapeText(theta[:1]), graph.ShapeText(size[:1]))
	}
	out := append(append([]int{size[0]}, size[2:]...), d)
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	points := append([]int{d + 1}, size[2:]...)
	n, ok := graph.Elements(points)
	if !ok || c.Fits(n, "the grid", points) != nil {
		return fmt.Errorf("the grid %s is too large", graph.ShapeText(out))
	}
	c.Resolved = newAffineGrid(size[2:], c.AttrInt("align_corners", 0) != 0)
	return c.MultiplyAdds(out, d+1)
}

// newAffineGrid lays points from -1 to 1 along each axis, on pixels' centres or, aligned,
// on the corners.
func newAffineGrid(size []int, align bool) *affineGrid {
	d := len(size)
	g := &affineGrid{d: d}
	at := make([]int, d)
	for p := range graph.Product(size) {
		unravel(p, size, at)
		for i := d - 1; i >= 0; i-- { // the last axis's coordinate first
			n, k := float64(size[i]), float64(at[i])
			switch {
			case !align:
				g.points = append(g.points, (2*k+1)/n-1)
			case size[i] == 1:
				g.points = append(g.points, -1)
			default:
				g.points = append(g.points, 2*k/(n-1)-1)
			}
		}
		g.points = append(g.points, 1)
	}
	return g
}

func compileAffineGrid[T kernel.Float](n *graph.Node) Step[T] {
	g := n.Resolved.(*affineGrid)
	return func(x *Exec[T]) error {
		out := x.Out[0].F
		points := len(g.points) / (g.d + 1)
		for o := range out {
			row, p, i := o/(points*g.d), o/g.d%points, o%g.d
			theta := x.In[0].F[(row*g.d+i)*(g.d+1):][:g.d+1]
			s := T(0)
			for k, v := range g.points[p*(g.d+1):][:g.d+1] {
				s += T(theta[k] * T(v))
			}
			out[o] = s
		}
		return nil
	}
}

// affineGridRule: a coordinate is a row of the matrix times the point.
func affineGridRule(n *graph.Node) Rule {
	g, ok := n.Resolved.(*affineGrid)
	if !ok {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: g.d + 1, Each: func(_, e int, yield Link) {
		points := len(g.points) / (g.d + 1)
		row, p, i := e/(points*g.d), e/g.d%points, e%g.d
		for k, v := range g.points[p*(g.d+1):][:g.d+1] {
			yield(0, (row*g.d+i)*(g.d+1)+k, v)
		}
	}}
}
