package diagnostics

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All orders of five rows come equally often, wherever the rows were before. The
// bound is what chi-squared with 119 degrees of freedom exceeds once in 10^6.
func TestShuffleIsUniform(t *testing.T) {
	const draws = 120 * 200
	r, e := rand.NewPCG(1, 2), []float64{0, 1, 2, 3, 4}
	seen := map[[5]float64]float64{}
	for range draws {
		shuffle(e, r)
		seen[[5]float64(e)]++
	}
	var chi2 float64
	for _, n := range seen {
		chi2 += (n - 200) * (n - 200) / 200
	}
	if len(seen) != 120 || chi2 > 202 {
		t.Errorf("%d of 120 orders, chi-squared %g", len(seen), chi2)
	}
}

// A row comes to any place equally often, and next to any other, also if there are
// more rows than one random number has digits for.
func TestShufflePlaces(t *testing.T) {
	const n, draws = 150, 150 * 400
	r, e := rand.NewPCG(3, 4), make([]float64, n)
	for i := range e {
		e[i] = float64(i)
	}
	var places [n][n]float64
	together := 0.0 // rows that follow the one they followed before
	var before [n]float64
	for range draws {
		shuffle(e, r)
		for i, v := range e {
			places[int(v)][i]++
			if i == 0 {
				continue
			}
			if before[int(v)] == e[i-1] {
				together++
			}
			before[int(v)] = e[i-1]
		}
	}
	for v := range places {
		for i, times := range places[v] {
			if math.Abs(times-400) > 6*20 { // six standard deviations
				t.Errorf("row %d came to place %d %g times, expected 400", v, i, times)
			}
		}
	}
	if want := float64(draws); math.Abs(together-want) > 6*math.Sqrt(want) { // one in every order, about
		t.Errorf("%g rows followed the same one again, expected about %g", together, want)
	}
}

func TestSuccessiveRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{2, 3, 10, 11} {
		e, pairs := make([]float64, n), make(neighbours, n-1)
		for i := range e {
			e[i] = r.NormFloat64()
		}
		for i := range pairs {
			pairs[i] = [2]int{i, i + 1}
		}
		if got, want := neighbours(nil).differences(e), pairs.differences(e); math.Abs(got-want) > 1e-15 {
			t.Errorf("%d rows: %g, want %g", n, got, want)
		}
	}
	if got := inOrderOf([]float64{2, 1, 2, math.NaN(), 1}, []float64{0, 1, 2, 3, 4}); !slices.Equal(got, []float64{3, 1, 4, 0, 2}) {
		t.Errorf("in order: %v", got)
	}
}

func TestOrdersForAnyProcessors(t *testing.T) {
	e := make([]float64, 300)
	for i := range e {
		e[i] = math.Sin(float64(i * i))
	}
	ways := []neighbours{nil, {{0, 7}, {3, 5}}, nil}
	want := randomOrders(t.Context(), 9, e, ways)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if diff := cmp.Diff(want, randomOrders(t.Context(), 9, e, ways)); diff != "" {
		t.Error(diff)
	}
	if slices.Equal(want[0], want[1]) || !slices.Equal(want[0], want[2]) {
		t.Error("pairs are not compared with pairs, or rows not with the next ones")
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(want[0])))); n != shuffles {
		t.Errorf("%d different orders of %d", n, shuffles)
	}
}
