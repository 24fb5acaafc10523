package basis

import (
	"testing"

	"github.com/pho-go/pho/data"
)

func mustNumeric(t testing.TB, b *data.Batch, name string) []float64 {
	t.Helper()
	x, err := b.Numeric(name)
	must(t, err)
	return x
}
