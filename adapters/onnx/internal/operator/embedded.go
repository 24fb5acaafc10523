package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Embedded is what the engine resolves a product of rows, x W + b, to where parts of x are rows of
// embeddings: such a row times its part of W is a row of a table that is made beforehand, to be looked up
// and added. The node's inputs are the rest of x, the rest of W, b, and the positions of each part.
type Embedded struct {
	Rest  Lookup // the columns of the first input that the rest of W multiplies
	Parts []Embedding
}

// Embedding is one of them: Size rows, and their products, each as many numbers as W has columns.
type Embedding struct {
	Lookup
	Size int
	Rows []float64
}

// EmbeddedOf are those of n, nil if it has none.
func EmbeddedOf(n *graph.Node) *Embedded {
	t, _ := n.Resolved.(*Embedded)
	return t
}

// rowsLookedUp is how many rows are looked up before they are multiplied: four of the highest tiles, and
// their sums stay in the first caches.
const rowsLookedUp = 48

// places are row numbers of the stack of tables: first one part's for a tile of rows, then the next part's.
type places [1024]int32

// MostEmbeddings is how many parts there may be: places hold a tile's rows of them.
const MostEmbeddings = len(places{}) / 12

// CompileEmbedded is the step of such a product.
func CompileEmbedded[T kernel.Float](n *graph.Node, t *Embedded) Step[T] {
	cols := n.Outputs[0].Shape[1]
	width := kernel.LookUpSumWidth[T](cols)
	rest := kernel.Pack(t.Rest.Width, cols, Floats[T](n.Inputs[1]), false)
	table, first := stacked[T](t.Parts, n.Inputs[2].Const.F, width)
	return func(x *Exec[T]) error {
		var room places
		most := min(rowsLookedUp, len(room)/len(t.Parts))
		sums, out := x.temp(min(most, x.Rows)*width), x.Out[0].F
		for row := 0; row < x.Rows; row += most {
			rows := min(most, x.Rows-row)
			at := room[:rows*len(t.Parts)]
			for i, part := range t.Parts {
				codes := x.In[3+i].I
				step := len(codes) / x.Rows
				if err := part.find(at[i:], len(t.Parts), codes[row*step+part.Column:], step, rows, first[i]); err != nil {
					return err
				}
			}
			kernel.LookUpSum(sums, width, table, width, at, len(t.Parts))
			var a []T
			lda := 0
			if t.Rest.Width > 0 {
				lda = x.In[0].Shape[1]
				a = x.In[0].F[row*lda+t.Rest.Column:]
			}
			rest.MulOnto(out[row*cols:], cols, a, lda, rows, sums, width, x.Relu)
		}
		return nil
	}
}

// stacked is one table after the other, in rows of width numbers, the first one with b added; and where
// each begins.
func stacked[T kernel.Float](parts []Embedding, b []float64, width int) (table []T, first []int32) {
	rows, cols := 0, len(b)
	for _, part := range parts {
		first = append(first, int32(rows))
		rows += part.Size
	}
	table = make([]T, rows*width)
	for i, part := range parts {
		for k := range part.Size {
			to := table[(int(first[i])+k)*width:]
			for j, v := range part.Rows[k*cols:][:cols] {
				if i == 0 {
					v += b[j]
				}
				to[j] = T(v)
			}
		}
	}
	return table, first
}

// find sets entries of at, apart from each other, to the rows of the stack that codes, step apart, stand
// for.
func (t *Embedding) find(at []int32, apart int, codes []int64, step, rows int, first int32) error {
	for i := range rows {
		k := codes[i*step]
		if k < 0 {
			k += int64(t.Size)
		}
		if k < 0 || k >= int64(t.Size) {
			return &Inside{t.Gather, fmt.Errorf("index %d is outside axis 0 of size %d", codes[i*step], t.Size)}
		}
		at[i*apart] = first + int32(k)
	}
	return nil
}
