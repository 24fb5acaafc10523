package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// detOps are of square matrices.
func detOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Det", Versions: []int{11, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkDet},
			Rule: detRule, Compile: compileDet[T]},
	}
}

func checkDet(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	k := len(in) - 2
	if k < 0 || in[k] != in[k+1] {
		return fmt.Errorf("needs square matrices, has %s", graph.ShapeText(in))
	}
	if graph.IsRows(in[k]) {
		return fmt.Errorf("mixes rows: the batch axis of %s is part of the matrices", graph.ShapeText(in))
	}
	m := matrices{in[k]}
	c.Resolved = m
	if err := c.MultiplyAdds(in, in[k]); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, append([]int{}, in[:k]...))
}

// matrices are square, of that many rows.
type matrices struct{ n int }

// Scratch holds a matrix.
func (m matrices) Scratch() int { return m.n * m.n }

func compileDet[T kernel.Float](n *graph.Node) Step[T] {
	m := n.Resolved.(matrices)
	return func(x *Exec[T]) error {
		size := m.n * m.n
		work := x.temp(size)
		for o := range x.Out[0].F {
			copy(work, x.In[0].F[o*size:])
			x.Out[0].F[o] = determinant(work, m.n)
		}
		return nil
	}
}

// determinant eliminates with partial pivoting, in the memory of a.
func determinant[T kernel.Float](a []T, n int) T {
	det := T(1)
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if math.Abs(float64(a[i*n+k])) > math.Abs(float64(a[best*n+k])) {
				best = i
			}
		}
		pivot := a[best*n+k]
		if det *= pivot; pivot == 0 {
			return 0
		}
		if best != k {
			det = -det
			for j := k; j < n; j++ {
				a[k*n+j], a[best*n+j] = a[best*n+j], a[k*n+j]
			}
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / pivot
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= T(f * a[k*n+j])
			}
		}
	}
	return det
}

func detRule(n *graph.Node) Rule {
	m, ok := n.Resolved.(matrices)
	if !ok {
		return opaque(n)
	}
	size := m.n * m.n
	return Rule{Cost: size, Each: func(_, e int, yield Link) {
		for k := range size {
			yield(0, e*size+k, 1)
		}
	}}
}
