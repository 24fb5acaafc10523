package family

import (
	"fmt"
	"testing"
)

// BenchmarkTweedie: a log-likelihood at few and at many amounts in a row.
func BenchmarkTweedie(b *testing.B) {
	for _, phi := range []float64{2, 0.01, 1e-6} {
		b.Run(fmt.Sprintf("phi=%g", phi), func(b *testing.B) {
			eta := []float64{0.3}
			for b.Loop() {
				Tweedie{1.5}.LogLik(1.7, 1, eta, phi)
			}
		})
	}
}
