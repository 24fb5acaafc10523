package radial

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/basis/internal/distinct"
)

// TestKnotsSpread: no point of the data is farther from all knots than the
// knots are from each other.
func TestKnotsSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	points := distinct.NewPoints(2, 1000)
	for range 300 {
		points.Add(3*r.NormFloat64(), r.NormFloat64())
	}
	points.Sort()
	scales, bad := Scales(points)
	if bad >= 0 {
		t.Fatalf("column %d has no scale", bad)
	}
	layer, _, err := Construct(points, scales, nil, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	between := math.Inf(1)
	for i := range 20 {
		for j := range i {
			between = min(between, layer.distance(layer.knot(i), layer.knot(j)))
		}
	}
	for i := range points.N() {
		nearest := math.Inf(1)
		for j := range 20 {
			nearest = min(nearest, layer.distance(points.X[2*i:2*i+2], layer.knot(j)))
		}
		if nearest > between*(1+1e-12) {
			t.Fatalf("point %d is %v from its knot, knots are %v apart", i, nearest, between)
		}
	}
}
