package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// col2ImOps add up blocks where they lie on an image.
func col2ImOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Col2Im", Versions: []int{18}, Min: 3, Max: 3, Outputs: 1, Check: checkCol2Im},
			Rule: col2ImRule, Compile: compileCol2Im[T]},
	}
}

// checkCol2Im: rows x (channels x taps) x places become rows x channels x image.
func checkCol2Im(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) != 3 || graph.HasRows(in[1:]) {
		return fmt.Errorf("needs [rows, channels x window, places], has %s", graph.ShapeText(in))
	}
	image, err := positive(c, 1)
	if err != nil {
		return err
	}
	kernel, err := positive(c, 2)
	if err != nil {
		return err
	}
	d := len(image)
	if len(kernel) != d || d == 0 || d > graph.MaxRank-2 {
		return fmt.Errorf("image_shape %v and block_shape %v do not fit each other", image, kernel)
	}
	g, after, err := windowOf(c, kernel, image)
	if err != nil {
		return err
	}
	places, err := g.places(image, after)
	if err != nil {
		return err
	}
	taps := graph.Product(kernel)
	if n, ok := graph.Elements(places); !ok || n != in[2] || in[1]%taps != 0 {
		return fmt.Errorf("input %s does not hold blocks of %d at %v places", graph.ShapeText(in), taps, places)
	}
	c.Resolved = newSliding(image, places, kernel, g.stride, g.dilate, g.pad)
	return c.Set(0, c.Inputs[0].Type, append([]int{in[0], in[1] / taps}, image...))
}

// positive reads input i, a constant vector of sizes from 1 on.
func positive(c *graph.Check, i int) ([]int, error) {
	v, err := c.Ints(i)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, n := range v {
		if n < 1 || n > 1<<20 {
			return nil, fmt.Errorf("input %d (%q) %v: sizes must be between 1 and %d", i, c.Inputs[i].Name, v, 1<<20)
		}
		out = append(out, int(n))
	}
	return out, nil
}

func compileCol2Im[T kernel.Float](n *graph.Node) Step[T] {
	s := n.Resolved.(*sliding)
	image, columns := graph.Product(s.image), graph.Product(s.kernel)*graph.Product(s.places)
	return func(x *Exec[T]) error {
		out := x.Out[0].F
		clear(out)
		for c := range len(out) / image {
			spread(s, out[c*image:(c+1)*image], x.In[0].F[c*columns:])
		}
		return nil
	}
}

// col2ImRule: a pixel is the sum of what covers it.
func col2ImRule(n *graph.Node) Rule {
	s, ok := n.Resolved.(*sliding)
	if !ok {
		return opaque(n)
	}
	image, places, taps := graph.Product(s.image), graph.Product(s.places), graph.Product(s.kernel)
	at := make([]int, len(s.image))
	return Rule{Linear: true, Cost: taps, Each: func(_, e int, yield Link) {
		unravel(e%image, s.image, at)
		s.covers(at, func(tap, o int) { yield(0, (e/image*taps+tap)*places+o, 1) })
	}}
}

// spread adds the columns of one channel, taps x places, to the pixels under them.
func spread[T kernel.Float](s *sliding, dst, columns []T) {
	places, step := graph.Product(s.places), s.stride[len(s.stride)-1]
	s.each(func(tap, o, x, n int) {
		src := columns[tap*places+o:][:n]
		if step == 1 {
			for i, v := range src {
				dst[x+i] += v
			}
			return
		}
		for _, v := range src {
			dst[x] += v
			x += step
		}
	})
}
