package operator

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// BenchmarkConv runs layers of ResNet-18 and MobileNet, four images a call.
func BenchmarkConv(b *testing.B) {
	for _, l := range []struct{ cin, cout, size, kernel, stride, group int }{
		{3, 64, 224, 7, 2, 1}, {64, 64, 56, 3, 1, 1}, {128, 128, 28, 3, 1, 1}, {128, 256, 28, 3, 2, 1}, {256, 256, 14, 3, 1, 1}, {512, 512, 7, 3, 1, 1},
		{24, 144, 56, 1, 1, 1}, {144, 24, 56, 1, 1, 1}, {576, 96, 14, 1, 1, 1}, {144, 144, 56, 3, 1, 144}, {96, 96, 112, 3, 2, 96}, {576, 576, 14, 3, 1, 576},
	} {
		name := fmt.Sprintf("%dto%d,%dpx,%dx%d,stride%d,groups%d", l.cin, l.cout, l.size, l.kernel, l.kernel, l.stride, l.group)
		b.Run("float64,"+name, func(b *testing.B) { benchmarkConv[float64](b, l.cin, l.cout, l.size, l.kernel, l.stride, l.group) })
		b.Run("float32,"+name, func(b *testing.B) { benchmarkConv[float32](b, l.cin, l.cout, l.size, l.kernel, l.stride, l.group) })
	}
}

func benchmarkConv[T kernel.Float](b *testing.B, cin, cout, size, k, stride, group int) {
	const images = 4
	pad := k / 2
	p := &convPlan{group: group, kernel: []int{k, k}, stride: []int{stride, stride}, dilate: []int{1, 1}, pad: []int{pad, pad}, points: k * k, pointwise: k == 1 && stride == 1}
	out := (size+2*pad-k)/stride + 1
	c := newConvLines(p, []int{cout, cin / group, k, k}, []int{size, size}, []int{out, out})
	w := make([]T, cout*cin/group*k*k)
	for i := range w {
		w[i] = T(graph.Float32.Round(float64(i%17) - 8))
	}
	f := packConv(c, w, nil)
	x, y, work := make([]T, images*cin*size*size), make([]T, images*cout*out*out), make([]T, c.work(images))
	for b.Loop() {
		convolve(c, f, y, x, work, true)
	}
	b.ReportMetric(float64(images*cout*out*out*cin/group*k*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gmuladd/s")
}
