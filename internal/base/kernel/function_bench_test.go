package kernel

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkFunctions reports ns a value of numbers that stay in cache, by the fastest of all
// calls: what else runs on the machine lengthens the others.
func BenchmarkFunctions(b *testing.B) {
	benchFunctions[float64](b, "float64")
	benchFunctions[float32](b, "float32")
}

func benchFunctions[T Float](b *testing.B, typ string) {
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]T, 2048), make([]T, 2048)
	for i := range src {
		src[i] = T(rng.NormFloat64())
	}
	functions := unary[T]()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, s := range supported() {
			b.Run(fmt.Sprintf("%s/%s/%v", name, typ, s), func(b *testing.B) {
				least := time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					functions[name](s, dst, src)
					least = min(least, time.Since(start))
				}
				b.ReportMetric(float64(least)/float64(len(src)), "ns/value")
			})
		}
	}
}
