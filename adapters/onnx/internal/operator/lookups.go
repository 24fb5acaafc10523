package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Lookups is what the engine resolves a Concat of rows side by side to when parts of it
// are rows of tables, embeddings. Such a part has two inputs, the table and its positions by row,
// another part has one, a matrix.
type Lookups []Lookup

// Lookup is one part, of Width columns: the Gather that it is, nil if it is none, and the column of
// its last input that holds the positions, or the first one of those that a matrix has for it.
type Lookup struct {
	Gather        *graph.Node
	Column, Width int
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
			w := part.Width
			if part.Gather == nil {
				for r, ld := 0, in[0].Shape[1]; r < x.Rows; r++ {
					copy(out[r*width+from:][:w], in[0].F[r*ld+part.Column:])
				}
				from, in = from+w, in[1:]
				continue
			}
			index := in[1].I[part.Column:]
			if bad := kernel.LookUp(out[from:], width, in[0].F, w, index, len(in[1].I)/x.Rows); bad >= 0 {
				return &Inside{part.Gather, fmt.Errorf("index %d is outside axis 0 of size %d", index[bad], in[0].Shape[0])}
			}
			from, in = from+w, in[2:]
		}
		return nil
	}
}
