package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// world is a network that is known: zeta = sum of effects + a remainder that is a function
// of the features, too. Features are independent and each effect is centred, so that the
// population's projection on the formula's terms is the effects themselves: every product
// in the remainder has mean 0 given the features of any one term.
type world struct{}

const formula = `~ x1 + s(x2, bs="ps", k=12) + s(x3) + g + te(x4, x5, bs="ps", k=c(7,7))`

// terms are the formula's, with the features of each.
var terms = []struct {
	name     string
	features []string
}{
	{"x1", []string{"x1"}},
	{"s(x2)", []string{"x2"}},
	{"s(x3)", []string{"x3"}},
	{"g", []string{"g"}},
	{"te(x4,x5)", []string{"x4", "x5"}},
}

var numeric = []string{"x1", "x2", "x3", "x4", "x5"}

// levels of the factor, their probabilities, and what they do to the effect and to the
// remainder. The remainder's have mean 0.
var (
	levels      = []string{"a", "b", "c", "d", "e", "f"}
	probability = []float64{0.35, 0.25, 0.18, 0.11, 0.07, 0.04}
	levelEffect = []float64{0.4, -0.6, 0.1, 0.8, -0.3, 0}
	levelRest   = centred([]float64{0.3, -0.8, 1, -1, 0.6, 1.5}, probability)
)

func centred(v, p []float64) []float64 {
	mean := 0.0
	for i := range v {
		mean += p[i] * v[i]
	}
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] - mean
	}
	return out
}

// effect is term j's function of its features, but for a constant.
func effect(j int, x func(string) float64, level int) float64 {
	switch terms[j].name {
	case "x1":
		return 0.5 * x("x1")
	case "s(x2)":
		return math.Sin(1.7 * x("x2"))
	case "s(x3)":
		return math.Exp(-x("x3")*x("x3")) + 0.2*x("x3")
	case "g":
		return levelEffect[level]
	}
	return 1.2 * math.Sin(0.8*x("x4")) * math.Cos(0.8*x("x5"))
}

// rest is the remainder: interactions, smooth and rough, of features of different terms.
func rest(x func(string) float64, level int) float64 {
	return 0.8*x("x1")*x("x2") + 0.5*x("x2")*x("x3") + 0.6*levelRest[level]*x("x3") +
		0.5*x("x4")*x("x1") + 0.4*math.Sin(6*x("x5"))*x("x2") + 0.5*levelRest[level]*math.Tanh(2*x("x1"))
}

// draw is a sample of n rows. x2 and x5 are uniform, the others normal, all of variance 1;
// weights, if any, depend on x1, and one in twenty is 0.
func draw(n int, weighted bool, seed uint64) (*data.Table, error) {
	r := rand.New(rand.NewPCG(seed, 14))
	x := make([][]float64, len(numeric))
	w, g := make([]float64, n), make([]string, n)
	for j := range x {
		x[j] = make([]float64, n)
	}
	for i := range n {
		for j, name := range numeric {
			x[j][i] = quantile(name, r.Float64())
		}
		g[i] = levels[pick(r.Float64())]
		w[i] = (0.3 + math.Abs(x[0][i])) * (0.5 + r.Float64())
		if i%20 == 19 {
			w[i] = 0
		}
	}
	t := data.NewTable(n)
	for j, name := range numeric {
		if err := t.AddNumeric(name, x[j]); err != nil {
			return nil, err
		}
	}
	if !weighted {
		return t, t.AddTexts("g", g)
	}
	if err := t.AddNumeric("w", w); err != nil {
		return nil, err
	}
	return t, t.AddTexts("g", g)
}

// quantile of a feature's distribution.
func quantile(feature string, p float64) float64 {
	if feature == "x2" || feature == "x5" {
		return math.Sqrt(3) * (2*p - 1)
	}
	return math.Sqrt2 * math.Erfinv(2*p-1)
}

func pick(u float64) int {
	for i, p := range probability {
		if u -= p; u < 0 {
			return i
		}
	}
	return len(probability) - 1
}

func (world) Predictors() []string         { return []string{"eta"} }
func (world) Columns() []string            { return append(numeric[:len(numeric):len(numeric)], "g") }
func (world) Intercept(int) float64        { return 0 }
func (world) Blocks(int) []decompose.Block { return nil }
func (world) Taps() map[string]int         { return nil }

// Forward is the network.
func (world) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return eachRow(b, func(i int, x func(string) float64, level int) {
		eta := rest(x, level)
		for j := range terms {
			eta += effect(j, x, level)
		}
		dst.Zeta.Set(i, 0, eta)
		dst.Eta.Set(i, 0, eta)
	})
}

// eachRow shows the features of every row of b.
func eachRow(b *data.Batch, f func(i int, x func(string) float64, level int)) error {
	columns := map[string][]float64{}
	for _, name := range numeric {
		v, err := b.Numeric(name)
		if err != nil {
			return err
		}
		columns[name] = v
	}
	codes, err := b.Codes("g")
	if err != nil {
		return err
	}
	number := make([]int, len(codes.Levels))
	for i, l := range codes.Levels {
		for j, name := range levels {
			if l == name {
				number[i] = j
			}
		}
	}
	for i := range b.Rows() {
		f(i, func(name string) float64 { return columns[name][i] }, number[codes.Index[i]])
	}
	return nil
}
