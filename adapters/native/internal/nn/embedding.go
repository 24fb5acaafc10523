package nn

import (
	"math/rand/v2"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Embedding gives each level of a factor a row of Width numbers.
type Embedding[T kernel.Float] struct {
	Levels, Width int
	Table         *Param[T] // Levels x Width

	codes []int32
}

// NewEmbedding returns a table of zeros.
func NewEmbedding[T kernel.Float](name string, levels, width int) *Embedding[T] {
	return &Embedding[T]{Levels: levels, Width: width, Table: NewParam[T](name+".table", levels*width, true)}
}

// Init draws the table from the normal distribution with standard deviation 0.1.
func (e *Embedding[T]) Init(rng *rand.Rand) {
	for i := range e.Table.Value {
		e.Table.Value[i] = T(0.1 * rng.NormFloat64())
	}
	e.Table.Version++
}

// Replica shares the table.
func (e *Embedding[T]) Replica() *Embedding[T] {
	return &Embedding[T]{Levels: e.Levels, Width: e.Width, Table: e.Table}
}

// Forward copies the rows of the codes, each in 0..Levels-1, to dst: Width columns of
// len(codes) values.
func (e *Embedding[T]) Forward(dst []T, codes []int32) {
	e.codes = codes
	ld := kernel.UnitStride[T](len(codes))
	for i, c := range codes {
		for j, v := range e.Table.Value[int(c)*e.Width:][:e.Width] {
			dst[j*ld+i] = v
		}
	}
}

// Backward adds the rows of dy, which lies as Forward's dst, to the gradients of their
// levels.
func (e *Embedding[T]) Backward(dy []T) {
	if !e.Table.trained() {
		return
	}
	ld := kernel.UnitStride[T](len(e.codes))
	for i, c := range e.codes {
		g := e.Table.Grad[int(c)*e.Width:][:e.Width]
		for j := range g {
			g[j] += dy[j*ld+i]
		}
	}
}
