package operator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// TestSoftmaxOneByOne: whichever way columns are put, the bits are those of each of them alone.
func TestSoftmaxOneByOne(t *testing.T) {
	for _, outer := range []int{0, 1, 7, 8, 9, 33, 300} {
		for _, size := range []int{1, 2, 10, 47, 48, 300} {
			for _, inner := range []int{0, 1, 3, 15, 16, 17, 260} {
				if outer*size*inner > 200_000 {
					continue
				}
				for _, logarithm := range []bool{false, true} {
					t.Run(fmt.Sprintf("%dx%dx%d/log=%t", outer, size, inner, logarithm), func(t *testing.T) {
						softmaxOneByOne[float64](t, outer, size, inner, logarithm)
						softmaxOneByOne[float32](t, outer, size, inner, logarithm)
					})
				}
			}
		}
	}
}

func softmaxOneByOne[T kernel.Float](t *testing.T, outer, size, inner int, logarithm bool) {
	rng := rand.New(rand.NewPCG(uint64(outer), uint64(size*1000+inner)))
	src := make([]T, outer*size*inner)
	for i := range src {
		src[i] = T(rng.NormFloat64() * 30)
		switch rng.IntN(50 * size) {
		case 0:
			src[i] = T(math.NaN())
		case 1:
			src[i] = T(math.Inf(1))
		case 2, 3:
			src[i] = T(math.Inf(-1))
		case 4:
			src[i] = T(math.Copysign(0, -1))
		}
	}
	buf := make([]T, softmaxWork(outer, size, inner))
	got, within := make([]T, len(src)), append([]T{}, src...)
	softmaxAll(got, src, outer, size, inner, logarithm, buf)
	softmaxAll(within, within, outer, size, inner, logarithm, buf)
	row := make([]T, size)
	for c := range outer * inner {
		first := c/max(inner, 1)*size*inner + c%max(inner, 1)
		for k := range row {
			row[k] = src[first+k*inner]
		}
		plain := softmaxPlainly(row, logarithm)
		softmaxRow(row, row, logarithm)
		for k, want := range row {
			// Exponents of up to 100 are rounded: by 4e-6 in float32.
			size := 1e-5
			if _, double := any(want).(float64); double {
				size = 1e-13
			}
			if p := plain[k]; math.IsNaN(p) != (want != want) || math.Abs(float64(want)-p) > size*max(1, math.Abs(p)) {
				t.Fatalf("%T: element %d of column %d is %v, by its formula %v", want, k, c, want, p)
			}
			for _, x := range []T{got[first+k*inner], within[first+k*inner]} {
				same := x == want && math.Signbit(float64(x)) == math.Signbit(float64(want)) || x != x && want != want
				if !same {
					t.Fatalf("%T: element %d of column %d is %v, alone %v", x, k, c, x, want)
				}
			}
		}
	}
}

// softmaxPlainly is the formula in float64.
func softmaxPlainly[T kernel.Float](row []T, logarithm bool) []float64 {
	top, total := math.Inf(-1), 0.0
	for _, x := range row {
		top = max(top, float64(x))
	}
	for _, x := range row {
		total += math.Exp(float64(x) - top)
	}
	out := make([]float64, len(row))
	for k, x := range row {
		if out[k] = math.Exp(float64(x)-top) / total; logarithm {
			out[k] = float64(x) - top - math.Log(total)
		}
	}
	return out
}

func BenchmarkSoftmax(b *testing.B) {
	for _, s := range [][3]int{{256, 2, 1}, {256, 10, 1}, {256, 40, 1}, {256, 64, 1}, {16, 64, 64}, {256, 10, 4}, {1, 10, 1}} {
		outer, size, inner := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", outer, size, inner), func(b *testing.B) {
			dst, src := make([]float32, outer*size*inner), make([]float32, outer*size*inner)
			for i := range src {
				src[i] = float32(i*7919%1000) / 100
			}
			buf := make([]float32, softmaxWork(outer, size, inner))
			for b.Loop() {
				softmaxAll(dst, src, outer, size, inner, false, buf)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*outer*size*inner), "ns/element")
		})
	}
}
