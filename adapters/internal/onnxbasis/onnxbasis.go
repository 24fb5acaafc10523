// Package onnxbasis writes the bases of terms as nodes of an ONNX graph: a row of a basis
// times a matrix, in float64, with operators that every opset from 7 on has.
// Coefficients are multiplied into tables before a row is seen.
package onnxbasis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Graph is what nodes are added to. name says what they hold and need not be new; all three
// return the name that the tensor got.
type Graph interface {
	Node(op, name string, inputs []string, attrs ...onnxpb.Attr) string
	Doubles(name string, shape []int, values ...float64) string
	Ints(name string, values ...int64) string
}

// Rows are the columns that bases read.
type Rows interface {
	// Number is the tensor, float64 and N x 1, of a numeric column.
	Number(column string) (string, error)
	// Code is a tensor, int64 and N, of the place of each row's level among the levels,
	// counted from 1; 0: it is none of them.
	Code(of basis.Indicators) (string, error)
}

// Writer writes bases. What several of them need is written once.
type Writer struct {
	graph Graph
	rows  Rows
	known map[string]string // tensors by what they hold
}

// New writes to g what reads the columns of r.
func New(g Graph, r Rows) *Writer { return &Writer{g, r, map[string]string{}} }

// Times writes a row of e times c (e's width x k), float64 and N x k; nil is the identity.
// A row with a level that e does not know is not a number, as long as c is not 0. name
// begins the names of all nodes.
func (w *Writer) Times(name string, e basis.Expression, c mat.Matrix) (string, error) {
	switch e := e.(type) {
	case basis.Number:
		x, err := w.rows.Number(e.Column)
		return w.scaled(name, x, c), err
	case basis.Indicators:
		return w.levels(name, e, c)
	case basis.Indicator:
		one := mat.NewDense(len(e.Levels), 1, nil)
		one.Set(e.At, 0, 1)
		return w.Times(name, e.Indicators, product(one, c))
	case basis.Combinations:
		return w.combinations(name, e, c)
	case *basis.Piecewise:
		return w.piecewise(name, e, c)
	case *basis.Radial:
		return w.radial(name, e, c)
	case *basis.Monomials:
		return w.monomials(name, e, c)
	case basis.Mapped:
		return w.Times(name, e.Of, product(e.To, c))
	case basis.Joined:
		return w.joined(name, e, c)
	case basis.Product:
		return w.product(name, e, c)
	}
	return "", fmt.Errorf("an expression of type %T cannot be written", e)
}

// product is a times b; nil is the identity.
func product(a, b mat.Matrix) mat.Matrix {
	if b == nil {
		return a
	}
	var c mat.Dense
	c.Mul(a, b)
	return &c
}

// orIdentity is c, or the n x n identity.
func orIdentity(c mat.Matrix, n int) mat.Matrix {
	if c != nil {
		return c
	}
	one := mat.NewDiagDense(n, nil)
	for i := range n {
		one.SetDiag(i, 1)
	}
	return one
}

// matrix adds c as a constant.
func (w *Writer) matrix(name string, c mat.Matrix) string {
	r, k := c.Dims()
	return w.graph.Doubles(name, []int{r, k}, mat.DenseCopyOf(c).RawMatrix().Data...)
}

// scalar adds one number as a constant.
func (w *Writer) scalar(name string, v float64) string {
	return w.once(fmt.Sprintf("scalar %x", math.Float64bits(v)), func() string { return w.graph.Doubles(name, nil, v) })
}

// once is the tensor of that key, which write writes if there is none.
func (w *Writer) once(key string, write func() string) string {
	if x, ok := w.known[key]; ok {
		return x
	}
	x := write()
	w.known[key] = x
	return x
}

// scaled is x (N x 1) times c (1 x k).
func (w *Writer) scaled(name, x string, c mat.Matrix) string {
	if c == nil {
		return x
	}
	return w.graph.Node("Mul", name+".effect", []string{x, w.matrix(name+".coefficients", c)})
}

// mapped is x (N x d) times c (d x k).
func (w *Writer) mapped(name, x string, c mat.Matrix) string {
	if c == nil {
		return x
	}
	return w.graph.Node("MatMul", name+".effect", []string{x, w.matrix(name+".coefficients", c)})
}

// gather is row i of a table for each i of index (N).
func (w *Writer) gather(name, table, index string) string {
	return w.graph.Node("Gather", name, []string{table, index}, onnxpb.Int("axis", 0))
}

func (w *Writer) cast(name, x string, to onnxpb.TensorProto_DataType) string {
	return w.graph.Node("Cast", name, []string{x}, onnxpb.Int("to", int64(to)))
}

// reshaped is x with -1 standing for N.
func (w *Writer) reshaped(name, x string, shape ...int64) string {
	to := w.once(fmt.Sprint("shape ", shape), func() string { return w.graph.Ints("shape", shape...) })
	return w.graph.Node("Reshape", name, []string{x, to})
}

// joined adds up what the parts contribute.
func (w *Writer) joined(name string, e basis.Joined, c mat.Matrix) (string, error) {
	whole, at, sum := mat.DenseCopyOf(orIdentity(c, e.Width())), 0, ""
	_, k := whole.Dims()
	for i, part := range e {
		own := fmt.Sprintf("%s.part%d", name, i+1)
		x, err := w.Times(own, part, whole.Slice(at, at+part.Width(), 0, k))
		if err != nil {
			return "", err
		}
		at += part.Width()
		if sum == "" {
			sum = x
			continue
		}
		sum = w.graph.Node("Add", name+".sum", []string{sum, x})
	}
	return sum, nil
}
