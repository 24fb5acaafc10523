package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// Enter rounds numbers to type t on their way into a tensor: dst[i*stride] is src[i].
func Enter[T kernel.Float](dst []T, stride int, src []float64, t graph.DType) {
	switch t {
	case graph.Float32:
		for i, x := range src {
			dst[i*stride] = T(float32(x))
		}
		return
	case graph.Float16, graph.BFloat16:
		for i, x := range src {
			dst[i*stride] = T(t.Round(x))
		}
		return
	}
	for i, x := range src {
		dst[i*stride] = T(x)
	}
}
