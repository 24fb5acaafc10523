package operator

import (
	"math"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// The types of whole numbers by name: where they wrap around, their limits and order.
func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		name                     string
		v, wrapped, least, most  int64
		bigger, smaller, bitsSet int64
	}{
		{"int8", 200, -56, -128, 127, 1, -1, -1},
		{"uint8", -1, 255, 0, 255, 255, 1, 255},
		{"int16", 1 << 15, -1 << 15, -1 << 15, 1<<15 - 1, 1, -1, -1},
		{"uint16", 1<<16 + 3, 3, 0, 1<<16 - 1, 9, 8, 1<<16 - 1},
		{"int32", 1 << 31, -1 << 31, -1 << 31, 1<<31 - 1, 1, -1, -1},
		{"uint32", -2, 1<<32 - 2, 0, 1<<32 - 1, 1 << 31, 1, 1<<32 - 1},
		{"int64", -5, -5, math.MinInt64, math.MaxInt64, 1, -1, -1},
		{"uint64", -5, -5, 0, -1, -1, 1, -1},
		{"int4", 9, -7, -8, 7, 1, -1, -1},
	} {
		k, ok := integerNamed(c.name)
		if !ok || k.wrap(c.v) != c.wrapped || k.least() != c.least || k.most() != c.most || k.wrap(-1) != c.bitsSet {
			t.Errorf("%s: %d wraps to %d, limits %d and %d", c.name, c.v, k.wrap(c.v), k.least(), k.most())
		}
		if k.key(c.bigger) <= k.key(c.smaller) {
			t.Errorf("%s: %d is not above %d", c.name, c.bigger, c.smaller)
		}
	}
	if k, _ := integerNamed("uint64"); k.real(-1) != 1<<64 {
		t.Errorf("the largest uint64 is %g", k.real(-1))
	}
	for _, typ := range []graph.DType{graph.Bool, graph.Float32, graph.Float64, 0} {
		if _, ok := integerOf(typ); ok {
			t.Errorf("%s is taken for an integer", typ)
		}
	}
	for _, typ := range []graph.DType{graph.Int32, graph.Int64} {
		if _, ok := integerOf(typ); !ok {
			t.Errorf("%s is not taken for an integer", typ)
		}
	}
}
