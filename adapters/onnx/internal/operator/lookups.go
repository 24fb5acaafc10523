package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// Lookups is what the engine resolves a Concat of rows side by side to when parts of it
// are rows of tables, embeddings. Such a part has two inputs, the table and its positions by row,
// another part has one.
type Lookups []Lookup

// Lookup is one part: the Gather that it is, nil if it is none, and the column of its second input
// that holds the positions.
type Lookup struct {
	Gather *graph.Node
	Column int
}

// Inside is what went wrong in a node that another one runs.
type Inside struct {
	Node *graph.Node
	Err  error
}

func (e *Inside) Error() string { return fmt.Sprintf("%s: %v", e.Node, e.Err) }

func (e *Inside) Unwrap() error { return e.Err }

// compileLookups writes rows of tables where they belong, without a tensor of their own.
func compileLookups[T kernel.Float](n *graph.Node, parts Lookups) Step[T] {
	width := n.Outputs[0].Shape[1]
	return func(x *Exec[T]) error {
		out, from, in := x.Out[0].F, 0, x.In
		for _, part := range parts {
			w := in[0].Shape[1]
			if part.Gather == nil {
				for r := range x.Rows {
					copy(out[r*width+from:][:w], in[0].F[r*w:])
				}
				from, in = from+w, in[1:]
				continue
			}
			if err := lookUp(out[from:], width, in[0].F, w, in[1].I[part.Column:], len(in[1].I)/x.Rows); err != nil {
				return &Inside{part.Gather, err}
			}
			from, in = from+w, in[2:]
		}
		return nil
	}
}

// lookUp writes row k of table, of w numbers, to dst for each k of index, step apart there and stride
// here.
func lookUp[T kernel.Float](dst []T, stride int, table []T, w int, index []int64, step int) error {
	size := len(table) / max(w, 1)
	for i, to := 0, 0; i < len(index); i, to = i+step, to+stride {
		k := index[i]
		if k < 0 {
			k += int64(size)
		}
		if k < 0 || k >= int64(size) {
			return fmt.Errorf("index %d is outside axis 0 of size %d", index[i], size)
		}
		copyFew(dst[to:][:w], table[int(k)*w:])
	}
	return nil
}

// copyFew copies as many numbers as dst has, few: without a call.
func copyFew[T kernel.Float](dst, src []T) {
	src = src[:len(dst)]
	for len(dst) >= 4 {
		*(*[4]T)(dst) = *(*[4]T)(src)
		dst, src = dst[4:], src[4:]
	}
	for len(dst) > 0 {
		dst[0] = src[0]
		dst, src = dst[1:], src[1:]
	}
}
