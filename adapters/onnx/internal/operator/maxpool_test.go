package operator

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// TestMaximaByLines: by lines and number by number maxima are the same, of one to three axes, with padding, steps and gaps,
// with numbers that are not finite among them.
func TestMaximaByLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for range 400 {
		axes := 1 + rng.IntN(3)
		var image, places, kernel, stride, dilate, before []int
		for i := range axes {
			n := 1 + rng.IntN(9)
			if i == axes-1 {
				n += 15 + rng.IntN(20)
			}
			k, d, s := 1+rng.IntN(3), 1+rng.IntN(2), 1+rng.IntN(3)
			reach := (k-1)*d + 1
			from, to := rng.IntN(reach), rng.IntN(reach)
			if from+n+to < reach {
				to = reach - n - from
			}
			image, kernel, stride, dilate, before = append(image, n), append(kernel, k), append(stride, s), append(dilate, d), append(before, from)
			places = append(places, (from+n+to-reach)/s+1)
		}
		p := &pooling{sliding: newSliding(image, places, kernel, stride, dilate, before)}
		if p.lines = newLines(p.sliding); p.lines == nil {
			continue
		}
		tried++
		const images = 3
		in := make([]float64, images*graph.Product(image))
		for i := range in {
			in[i] = rng.NormFloat64()
		}
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
		for range rng.IntN(4) {
			in[rng.IntN(len(in))] = odd[rng.IntN(len(odd))]
		}
		want, got := make([]float64, images*graph.Product(places)), make([]float64, images*graph.Product(places))
		room := make([]float64, p.Scratch())
		for i := range room {
			room[i] = math.Inf(1) // whatever was there
		}
		maxima(want, in, math.Inf(-1), p.sliding)
		maximaByLines(got, in, room, p)
		for i, x := range want {
			if got[i] != x && !(math.IsNaN(got[i]) && math.IsNaN(x)) {
				t.Fatalf("image %v, kernel %v, stride %v, dilation %v, before %v: place %d is %v, want %v", image, kernel, stride, dilate, before, i, got[i], x)
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d windows tried", tried)
	}
}

func BenchmarkMaxima(b *testing.B) {
	for _, c := range []struct {
		name              string
		size, kernel, pad int
	}{{"2x2 of 224", 224, 2, 0}, {"3x3 of 112", 112, 3, 1}} {
		image, two := []int{c.size, c.size}, []int{2, 2}
		places := (c.size+2*c.pad-c.kernel)/2 + 1
		p := &pooling{sliding: newSliding(image, []int{places, places}, []int{c.kernel, c.kernel}, two, []int{1, 1}, []int{c.pad, c.pad})}
		p.lines = newLines(p.sliding)
		in, out, room := make([]float64, 16*c.size*c.size), make([]float64, 16*places*places), make([]float64, p.Scratch())
		for i := range in {
			in[i] = float64(i * i % 17)
		}
		b.Run(c.name+" by lines", func(b *testing.B) {
			for range b.N {
				maximaByLines(out, in, room, p)
			}
		})
		b.Run(c.name+" by numbers", func(b *testing.B) {
			for range b.N {
				maxima(out, in, math.Inf(-1), p.sliding)
			}
		})
	}
}
