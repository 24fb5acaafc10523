package decompose_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// TestVerdictsOfNetworks moves what must not matter to networks that other programs wrote,
// and to some that are trained here on real data.
func TestVerdictsOfNetworks(t *testing.T) {
	for name, want := range map[string]map[string]decompose.Verdict{
		"interpret/regressor": nil,
		"lightgbm/stumps":     nil,
		"interpret/pairs":     {"f(age)": convention, "f(income)": convention, "f(hours)": convention, "f(age,income)": convention, "f(age,hours)": convention, "f(income,hours)": convention},
	} {
		t.Run(name, func(t *testing.T) {
			m, rows := zoo(t, name)
			p := &problem{name: name, rows: rows, model: m, want: want, skip: []string{"a line from the deep part to the terms", "units", "level names"}}
			p.check(t)
		})
	}
}

// zoo opens a network of testdata/zoo, on rows of its columns.
func zoo(t *testing.T, name string) (*onnx.Model, *frame) {
	t.Helper()
	g, err := onnx.LoadFile(filepath.Join("..", "testdata", "zoo", "networks", filepath.FromSlash(name)+".onnx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 4))
	rows := newFrame(600)
	for _, c := range m.Columns() {
		v := make([]float64, rows.n)
		for i := range v {
			v[i] = float64(float32(r.NormFloat64()))
		}
		rows.with(c, v)
	}
	return m, rows
}

func realRows(t *testing.T, file string, every int, numbers, texts []string) *frame {
	t.Helper()
	src := realData(t, file)
	number, text := map[string][]float64{}, map[string][]string{}
	n := 0
	for b, err := range src.Batches(context.Background(), slices.Concat(numbers, texts)) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			if b.Row(i)%int64(every) != 0 {
				continue
			}
			n++
			for _, c := range numbers {
				v, err := b.Numeric(c)
				if err != nil {
					t.Fatal(err)
				}
				number[c] = append(number[c], v[i])
			}
			for _, c := range texts {
				v, err := b.Numeric(c)
				if err != nil {
					t.Fatal(err)
				}
				text[c] = append(text[c], string(rune('a'+int(v[i]))))
			}
		}
	}
	f := newFrame(n)
	for _, c := range numbers {
		f.with(c, number[c])
	}
	for _, c := range texts {
		f.withText(c, text[c])
	}
	return f
}

// TestVerdictsOnBikes trains networks on the rentals by hour.
func TestVerdictsOnBikes(t *testing.T) {
	if testing.Short() {
		t.Skip("many decompositions, one after the other")
	}
	numbers, texts := []string{"temp", "atemp", "hum", "windspeed", "hr", "cnt"}, []string{"season", "weathersit"}
	rows := realRows(t, "bike_hour.csv.gz", 12, numbers, texts)
	train := func(c native.Config) decompose.Model {
		c.Response = "cnt"
		c.Training = native.Training{Epochs: 15, LearningRate: 0.01, Seed: 1}
		m, _, err := native.Train(context.Background(), c, rows.table(t))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	inputs := []string{"temp", "atemp", "hum", "windspeed", "hr", "season", "weathersit"}
	deep := native.Deep{Columns: inputs, Hidden: []int{24, 12}, Activation: native.Tanh}
	box := train(native.Config{Architecture: native.MLP, Deep: deep})
	ssn := train(native.Config{Structured: native.Structured{Formulas: []string{"~ temp + hum + season"}}, Deep: deep})
	feature := native.FeatureNetworks{Columns: []string{"temp", "hum", "hr"}, Hidden: []int{16, 8}, Activation: native.Tanh}
	pairs := feature
	pairs.Pairs = [][2]string{{"hum", "hr"}}
	ridges := func(m decompose.Model) decompose.Model {
		m, _, err := nam.Prepare(context.Background(), m, rows.table(t), nam.Learned, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	own := native.Config{Architecture: native.NAM, FeatureNetworks: feature, Deep: deep}
	alone := native.Config{Architecture: native.NAM, FeatureNetworks: pairs}
	for _, p := range []*problem{
		{name: "black box", model: box, formula: "~ s(temp) + s(hum) + s(hr) + season + weathersit"},
		{name: "copies", model: box, formula: "~ s(temp) + s(atemp) + s(hr) + season", want: map[string]decompose.Verdict{"s(temp)": weak, "s(atemp)": weak}},
		{name: "interaction", model: box, formula: "~ season + weathersit + season:weathersit + s(hr)", want: map[string]decompose.Verdict{"season": convention, "weathersit": convention, "season:weathersit": convention},
			moving: []string{"season", "weathersit"}, options: asFitted},
		{name: "semi-structured", model: ssn, skip: []string{"level names", "units", "order of terms", "contrasts"}},
		{name: "neural additive", model: train(own), skip: []string{"level names", "units"}, tolerance: 1e-5},
		// Only the part that moves to the terms is penalised, not the part they held before.
		{name: "neural additive with ridges", model: ridges(train(own)), skip: []string{"level names", "units"}, tolerance: 1e-3},
		{name: "neural additive with a pair", model: train(alone), skip: []string{"level names", "units", "a line from the deep part to the terms"},
			want: map[string]decompose.Verdict{"f(hum)": convention, "f(hr)": convention, "f(hum,hr)": convention}},
	} {
		p.rows = rows
		t.Run(p.name, p.check)
	}
}
