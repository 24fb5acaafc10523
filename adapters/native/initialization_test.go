package native

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
)

// drawn is a network with layers wide enough to tell variances.
func drawn(t *testing.T, start Initialization, activation Activation, seed uint64) *network.Network[float64] {
	t.Helper()
	names := []string{"x1", "x2", "x3"}
	cfg := Config{
		Response: "y", Deep: Deep{Columns: names, Hidden: []int{400, 300}, Activation: activation},
		FeatureNetworks: FeatureNetworks{Columns: names, Hidden: []int{300, 200}, Activation: activation, Pairs: [][2]string{{"x1", "x2"}}},
		Training:        Training{ValidationShare: -1, Initialization: start},
	}.withDefaults()
	j, err := prepare(context.Background(), &cfg, simulated(t, 40, 2))
	if err != nil {
		t.Fatal(err)
	}
	net := atAdditive[float64](j, seed)
	net.Init(rand.New(rand.NewPCG(seed, 1)))
	return net
}

// TestInitialization: weights of every kind of layer have the variance that is said, and
// weights and biases the range of a uniform distribution.
func TestInitialization(t *testing.T) {
	// weight and bias are the half-widths of a layer: the square root of three times the
	// variance, and 0 without biases.
	type half struct{ weight, bias float64 }
	root := func(v float64) float64 { return math.Sqrt(v) }
	pytorch := map[string]half{
		"deep.0": {root(1. / 3), root(1. / 3)}, "deep.1": {root(1. / 400), root(1. / 400)}, "deep.head": {root(1. / 300), 0},
		"features.0": {1, 1}, "features.1": {root(1. / 300), root(1. / 300)}, "features.head": {root(1. / 200), 0},
		"pairs.0": {root(1. / 2), root(1. / 2)}, "pairs.1": {root(1. / 300), root(1. / 300)}, "pairs.head": {root(1. / 200), 0},
	}
	narrow := maps.Clone(pytorch)
	narrow["deep.0"] = half{root(1./3) / 2, root(1. / 3)}
	glorot := map[string]half{
		"deep.0": {root(6. / 403), 0}, "deep.1": {root(6. / 700), 0}, "deep.head": {root(6. / 301), 0},
		"features.0": {root(6. / 301), 0}, "features.1": {root(6. / 500), 0}, "features.head": {root(6. / 201), 0},
		"pairs.0": {root(6. / 302), 0}, "pairs.1": {root(6. / 500), 0}, "pairs.head": {root(6. / 201), 0},
	}
	he := func(gain float64) map[string]half {
		return map[string]half{
			"deep.0": {root(3 * gain / 3), 0.2}, "deep.1": {root(3 * gain / 400), 0.2}, "deep.head": {root(0.3 / 300), 0},
			"features.0": {root(3 * gain), 0.2}, "features.1": {root(3 * gain / 300), 0.2}, "features.head": {root(0.3 / 200 / 3), 0},
			"pairs.0": {root(3 * gain / 2), 0.2}, "pairs.1": {root(3 * gain / 300), 0.2}, "pairs.head": {root(0.3 / 200), 0},
		}
	}
	for _, c := range []struct {
		start      Initialization
		activation Activation
		want       map[string]half
	}{
		{"", ReLU, narrow}, {Narrow, ReLU, narrow}, {Narrow, Tanh, pytorch}, {Narrow, GELU, pytorch}, {PyTorch, ReLU, pytorch},
		{Glorot, ReLU, glorot}, {He, ReLU, he(2)}, {He, Tanh, he(1)},
	} {
		seen := 0
		check := func(name string, d *nn.Dense[float64]) {
			h, ok := c.want[name]
			if !ok {
				t.Fatalf("no layer %q is expected", name)
			}
			seen++
			uniform(t, fmt.Sprintf("%s, %s, weights of %s", c.start, c.activation, name), d.W.Value, h.weight)
			if d.B != nil {
				uniform(t, fmt.Sprintf("%s, %s, biases of %s", c.start, c.activation, name), d.B.Value, h.bias)
			}
		}
		for _, tower := range drawn(t, c.start, c.activation, 7).Towers {
			layer := 0
			for _, l := range tower.Chain.Layers {
				if d, ok := l.(*nn.Dense[float64]); ok {
					check(fmt.Sprintf("%s.%d", tower.Plan.Name, layer), d)
					layer++
				}
			}
			check(tower.Plan.Name+".head", tower.Head)
		}
		if seen != len(c.want) {
			t.Errorf("%s: %d layers, want %d", c.start, seen, len(c.want))
		}
	}
}

// uniform fails unless v looks drawn uniformly from -half to half: its mean square has
// relative standard deviation sqrt(4/(5 n)), and the largest is near the end.
func uniform(t *testing.T, what string, v []float64, half float64) {
	t.Helper()
	square, largest := 0.0, 0.0
	for _, x := range v {
		square += x * x / float64(len(v))
		largest = math.Max(largest, math.Abs(x))
	}
	n := float64(len(v))
	if want := half * half / 3; math.Abs(square-want) > 5*math.Sqrt(0.8/n)*want || largest > half || largest < half*(1-10/n) {
		t.Errorf("%s: variance %.4g and largest %.4g of %d, want %.4g and %.4g", what, square, largest, len(v), want, half)
	}
}

// TestInitializationSeed: the seed decides every weight, and float32 rounds what
// float64 draws.
func TestInitializationSeed(t *testing.T) {
	values := func(seed uint64) (v []float64) {
		for _, p := range drawn(t, "", ReLU, seed).Params() {
			v = append(v, p.Value...)
		}
		return v
	}
	one := values(1)
	if !slices.Equal(one, values(1)) {
		t.Error("one seed drew different weights")
	}
	if slices.Equal(one, values(2)) {
		t.Error("two seeds drew the same weights")
	}
	d, s := nn.NewDense[float64]("d", 2, 3, 4, false), nn.NewDense[float32]("s", 2, 3, 4, false)
	d.Init(rand.New(rand.NewPCG(1, 1)), 1./3)
	s.Init(rand.New(rand.NewPCG(1, 1)), 1./3)
	for i, v := range d.W.Value {
		if s.W.Value[i] != float32(v) {
			t.Fatalf("weight %d is %v in float32, %v in float64", i, s.W.Value[i], v)
		}
	}
}

// TestInitializationNames: no name is the default, and an unknown one is refused.
func TestInitializationNames(t *testing.T) {
	tab := simulated(t, 100, 3)
	cfg := Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1", "x2"}}, Training: Training{Epochs: 2}}
	of := func(start Initialization) []byte {
		cfg.Training.Initialization = start
		m, _ := mustTrain(t, cfg, tab)
		return saved(t, m)
	}
	if !bytes.Equal(of(""), of(Narrow)) || bytes.Equal(of(""), of(PyTorch)) {
		t.Error("the default is not narrow")
	}
	cfg.Training.Initialization = "kaiming"
	if _, _, err := Train(context.Background(), cfg, tab); err == nil || !strings.Contains(err.Error(), `unknown initialization "kaiming": known are ["narrow" "pytorch" "glorot" "he"]`) {
		t.Errorf("kaiming: %v", err)
	}
}

// TestDefaultInitializationPays: on rows of Friedman's first function the default
// predicts new rows better than He's wide weights, which fit the noise first.
func TestDefaultInitializationPays(t *testing.T) {
	draw := func(n int, seed uint64) *data.Table {
		rng := rand.New(rand.NewPCG(seed, 0xf1ed))
		x, y := make([][]float64, 10), make([]float64, n)
		for j := range x {
			x[j] = make([]float64, n)
		}
		for i := range n {
			for j := range x {
				x[j][i] = rng.Float64()
			}
			y[i] = 10*math.Sin(math.Pi*x[0][i]*x[1][i]) + 20*(x[2][i]-0.5)*(x[2][i]-0.5) + 10*x[3][i] + 5*x[4][i] + rng.NormFloat64()
		}
		tab := data.NewTable(n)
		for j, v := range x {
			if err := tab.AddNumeric(fmt.Sprintf("x%d", j+1), v); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.AddNumeric("y", y); err != nil {
			t.Fatal(err)
		}
		return tab
	}
	train, test := draw(500, 1), whole(t, draw(1000, 2))
	y, err := test.Numeric("y")
	if err != nil {
		t.Fatal(err)
	}
	errorOf := func(start Initialization) (sum float64) {
		for seed := range uint64(3) {
			cfg := Config{Architecture: MLP, Response: "y", Training: Training{Seed: seed, Single: true, Initialization: start, Epochs: 150}}
			for j := range 10 {
				cfg.Deep.Columns = append(cfg.Deep.Columns, fmt.Sprintf("x%d", j+1))
			}
			m, _ := mustTrain(t, cfg, train)
			sum += rootMeanSquare(y, etaOf(t, m, test), 0)
		}
		return sum / 3
	}
	if narrow, he := errorOf(""), errorOf(He); !(narrow < 0.95*he) {
		t.Errorf("root mean square error %.3g, He's %.3g", narrow, he)
	}
}

// TestWithoutFirstBias: with one hidden layer of ReLU units and no biases there,
// the network is linear on every ray from the columns' means.
func TestWithoutFirstBias(t *testing.T) {
	tab := simulated(t, 300, 9)
	train := whole(t, tab)
	names := []string{"x1", "x2"}
	bent := func(without bool) float64 {
		m, _ := mustTrain(t, Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: names, Hidden: []int{20}, WithoutFirstBias: without},
			Training: Training{Epochs: 20, ValidationShare: -1}}, tab)
		b := data.NewBatch(3, 0)
		for j, name := range names {
			v, err := train.Numeric(name)
			if err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for _, x := range v {
				mean += x / float64(len(v))
			}
			d := []float64{0.4, -0.3}[j]
			if err := b.SetNumeric(name, []float64{mean, mean + d, mean + 2*d}); err != nil {
				t.Fatal(err)
			}
		}
		eta := etaOf(t, m, b)
		return math.Abs(eta.At(2, 0) - 2*eta.At(1, 0) + eta.At(0, 0))
	}
	if without, with := bent(true), bent(false); !(without < 1e-9 && with > 1e-3) {
		t.Errorf("on a ray from the means the second difference is %g without biases, %g with them", without, with)
	}
}
