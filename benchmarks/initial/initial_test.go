package main

import (
	"context"
	"math"
	"reflect"
	"testing"
)

// TestCompare: errors of a split's seeds are averaged, splits are paired, and a split
// that one side lacks does not count.
func TestCompare(t *testing.T) {
	runs := map[string]*run{}
	for _, r := range []run{
		{Split: 1, Seed: 0, Arm: "he", RMSE: 3}, {Split: 1, Seed: 1, Arm: "he", RMSE: 5}, // 4 and 2: 2
		{Split: 1, Seed: 0, Arm: torch, RMSE: 2},
		{Split: 2, Seed: 0, Arm: "he", RMSE: 8}, {Split: 2, Seed: 0, Arm: torch, RMSE: 4}, // 4
		{Split: 3, Seed: 0, Arm: "he", RMSE: 100},
	} {
		r.Set, r.Kind = "s", "mlp"
		runs[r.key()] = &r
	}
	got := compare(runs, "s", "mlp", "he", torch, 1, 3)
	want := difference{ours: 6, peer: 3, share: 1, se: 1. / 3, splits: 2}
	if math.Abs(got.se-want.se) > 1e-15 {
		t.Errorf("standard error %v, want %v", got.se, want.se)
	}
	if got.se = want.se; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSplit: the number of a split decides its rows, no row is in two parts, and the
// training rows are standardised.
func TestSplit(t *testing.T) {
	all := sets()
	s := all[len(all)-1]
	rows, err := s.read(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	one := newSplit(rows, 1)
	if !reflect.DeepEqual(one, newSplit(rows, 1)) || reflect.DeepEqual(one, newSplit(rows, 2)) {
		t.Error("the number of a split does not decide its rows")
	}
	seen := map[float32]bool{} // responses are distinct
	for _, p := range []part{one.Train, one.Valid, one.Test} {
		for _, y := range p.Y {
			if seen[y] {
				t.Fatalf("the row of response %v is there twice", y)
			}
			seen[y] = true
		}
	}
	if n := [3]int{len(one.Train.Y), len(one.Valid.Y), len(one.Test.Y)}; n != [3]int{2000, 500, 1500} {
		t.Errorf("parts of %d rows", n)
	}
	mean, square := 0.0, 0.0
	for _, x := range one.Train.X {
		mean += float64(x[0]) / 2000
		square += float64(x[0]) * float64(x[0]) / 2000
	}
	if math.Abs(mean) > 1e-6 || math.Abs(square-1) > 1e-6 {
		t.Errorf("first column: mean %g, mean square %g", mean, square)
	}
}
