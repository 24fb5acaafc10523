package operator_test

import (
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// TestMod: the special cases of opset 28's definition, and that floating numbers need
// fmod before it.
func TestMod(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ x, y, floor, cut float64 }{
		{5, 3, 2, 2}, {-5, 3, 1, -2}, {5, -3, -1, 2}, {-5, -3, -2, -2},
		{6, 3, 0, 0}, {-6, 3, 0, zero}, {6, -3, zero, 0},
		{0, 2, 0, 0}, {zero, 2, 0, zero}, {0, -2, zero, 0},
		{2, inf, 2, 2}, {-2, inf, inf, -2}, {2, -inf, -inf, 2}, {-2, -inf, -2, -2},
		{inf, 2, nan, nan}, {2, 0, nan, nan}, {nan, 2, nan, nan}, {2, nan, nan, nan},
	} {
		for fmod, want := range []float64{c.floor, c.cut} {
			b := graphtest.Model(28, func(b *onnxpb.Builder) {
				b.AddInit("d", []int{1}, c.y)
				b.AddNode("Mod", []string{"x", "d"}, "y", onnxpb.Int("fmod", int64(fmod)))
			})
			got, _ := evaluate(t, b, []float64{c.x, c.x, c.x})
			if g := got[0]; g != want && (g == g || want == want) || math.Signbit(g) != math.Signbit(want) && want == want {
				t.Errorf("Mod(%g, %g), fmod %d: %g, want %g", c.x, c.y, fmod, g, want)
			}
		}
	}
	b := graphtest.Model(27, func(b *onnxpb.Builder) { b.AddNode("Mod", []string{"x", "x"}, "y") })
	if _, err := graphtest.Load(graphtest.Bytes(t, b)); err == nil || !strings.Contains(err.Error(), "before opset 28 fmod=0 is for integers") {
		t.Errorf("%v", err)
	}
}
