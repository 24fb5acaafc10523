package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// Lookups is what the engine resolves a Concat of rows side by side to when parts of it
// are rows of tables, embeddings: for each part the Gather that it is, nil if it is none.
// Such a part has two inputs, the table and its positions by row, another part has one.
type Lookups []*graph.Node

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
		for _, gather := range parts {
			w := in[0].Shape[1]
			if gather == nil {
				for r := range x.Rows {
					copy(out[r*width+from:][:w], in[0].F[r*w:])
				}
				from, in = from+w, in[1:]
				continue
			}
			if err := lookUp(out[from:], width, in[0].F, w, in[1].I); err != nil {
				return &Inside{gather, err}
			}
			from, in = from+w, in[2:]
		}
		return nil
	}
}

// lookUp writes row k of table, of w numbers, to dst for each k of index, stride apart.
func lookUp[T kernel.Float](dst []T, stride int, table []T, w int, index []int64) error {
	size := len(table) / max(w, 1)
	for r, k := range index {
		if k < 0 {
			k += int64(size)
		}
		if k < 0 || k >= int64(size) {
			return fmt.Errorf("index %d is outside axis 0 of size %d", index[r], size)
		}
		to, row := dst[r*stride:][:w], table[int(k)*w:][:w]
		for len(row) >= 4 { // without a call: rows are short
			*(*[4]T)(to) = *(*[4]T)(row)
			to, row = to[4:], row[4:]
		}
		if len(row) > 0 {
			copy(to, row)
		}
	}
	return nil
}
