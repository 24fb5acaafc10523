package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Enter rounds numbers to type t on their way into a tensor: dst[i*stride] is src[i], and
// dst as long as src if stride is 1.
func Enter[T kernel.Float](dst []T, stride int, src []float64, t graph.DType) {
	if d, single := any(dst).([]float32); single && stride == 1 && t != graph.Float16 && t != graph.BFloat16 {
		kernel.ToFloat32(d, src)
		return
	}
	switch t {
	case graph.Float32:
		if d, double := any(dst).([]float64); double && stride == 1 {
			kernel.RoundToFloat32(d, src)
			return
		}
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
	if d, double := any(dst).([]float64); double && stride == 1 {
		copy(d, src)
		return
	}
	for i, x := range src {
		dst[i*stride] = T(x)
	}
}

// entering is Enter of whole rows; nil: type t holds numbers as they are.
func entering[T kernel.Float](t graph.DType) func(dst []T, src []float64) {
	if _, double := any(T(0)).(float64); double && t == graph.Float64 {
		return nil
	}
	return func(dst []T, src []float64) { Enter(dst, 1, src, t) }
}
