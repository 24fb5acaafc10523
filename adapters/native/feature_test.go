package native

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// factorNAM has a factor alone, and in pairs with a number and with another factor.
func factorNAM(second string) Config {
	factors := []string{"d", second}
	if second == "g" { // text
		factors = factors[:1]
	}
	return Config{Architecture: NAM, Response: "y",
		FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2", "d"}, Factors: factors, Pairs: [][2]string{{"d", "x3"}, {"d", second}, {"x1", "x2"}}, Hidden: []int{8, 4}},
		Deep:            Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{8}},
		Training:        Training{Epochs: 4, Seed: 2}}
}

// TestFactorFeatures: the effect of a factor is a term of its own, and pairs read it
// through embeddings; what is saved is read back with this structure.
func TestFactorFeatures(t *testing.T) {
	for name, exu := range map[string]bool{"dense": false, "exu": true} {
		t.Run(name, func(t *testing.T) { factorFeatures(t, exu) })
	}
}

func factorFeatures(t *testing.T, exu bool) {
	tab := simulated(t, 500, 3)
	cfg := factorNAM("b")
	cfg.FeatureNetworks.ExU = exu
	m, _ := mustTrain(t, cfg, tab)
	b := whole(t, tab)
	if err := decomposetest.Model(m, b, 1e-9); err != nil {
		t.Error(err)
	}
	// The file lists columns in the order of its inputs.
	want := []string{"d", "f(b,d)", "f(d,x3)", "f(x1)", "f(x1,x2)", "f(x2)"}
	terms := func(m decompose.Model) []string {
		var names []string
		for _, block := range m.Blocks(0) {
			name := block.Term.Name()
			if strings.HasPrefix(name, "f(") {
				inside := strings.Split(name[2:len(name)-1], ",")
				slices.Sort(inside)
				name = "f(" + strings.Join(inside, ",") + ")"
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	if got := terms(m); !slices.Equal(got, want) {
		t.Errorf("terms %q", got)
	}
	for _, double := range []bool{false, true} {
		var file bytes.Buffer
		if err := m.WriteONNX(&file, &ExportOptions{Double: double}); err != nil {
			t.Fatal(err)
		}
		g, err := onnx.Load(&file, nil)
		if err != nil {
			t.Fatal(err)
		}
		bind, err := onnx.Bind(g, tab.Schema(), nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := onnx.NewModel(g, bind, &onnx.Options{Decode: basis.Decode})
		if err != nil {
			t.Fatal(err)
		}
		if got := terms(back); !slices.Equal(got, want) {
			t.Errorf("double %v: terms %q came back", double, got)
		}
		var miss mat.Dense
		miss.Sub(etaOf(t, back, b), etaOf(t, m, b))
		tolerance := 1e-5
		if double {
			tolerance = 1e-11
		}
		if worst := largest(&miss) / 100; !(worst < tolerance) {
			t.Errorf("double %v: predictors differ by %g", double, worst)
		}
		// Decomposed, the main effect of d is in its term: the pairs have none of it.
		r, err := decompose.Decompose(context.Background(), back, tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		if miss := *r.Predictors[0].ReconstructionError; miss > 1e-6 {
			t.Errorf("double %v: parts miss eta by %g", double, miss)
		}
		// A level that training has not seen.
		odd := b.Slice(0, 3)
		v, err := odd.Numeric("d")
		if err != nil {
			t.Fatal(err)
		}
		if err := odd.SetNumeric("d", append(slices.Clone(v[:2]), 7)); err != nil {
			t.Fatal(err)
		}
		if err := odd.SetCodes("d", data.Codes{Index: []int32{0, 0, 1}, Levels: []string{data.LevelText(v[0]), "7"}}); err != nil {
			t.Fatal(err)
		}
		for name, model := range map[string]decompose.Model{"trained": m, "read back": back} {
			out := &decompose.Outputs{Zeta: mat.NewDense(3, 1, nil), Eta: mat.NewDense(3, 1, nil), Taps: map[string]*mat.Dense{}}
			for tap, w := range model.Taps() {
				out.Taps[tap] = mat.NewDense(3, w, nil)
			}
			err := model.Forward(context.Background(), out, odd)
			if err == nil || !strings.Contains(err.Error(), "row 3") {
				t.Errorf("%s: unseen level: %v", name, err)
			}
		}
	}
}

// TestFactorEffect: a table of effects is the difference of the levels' means.
func TestFactorEffect(t *testing.T) {
	tab := simulated(t, 3000, 5)
	m, _ := mustTrain(t, Config{Architecture: NAM, Response: "h", FeatureNetworks: FeatureNetworks{Columns: []string{"g", "x1"}, Hidden: []int{8, 4}}, Training: Training{Epochs: 30, Seed: 2}}, tab)
	block := m.Blocks(0)[0]
	if block.Term.Name() != "g" || block.Term.Kind() != decompose.Factor {
		t.Fatalf("term %s, %s", block.Term.Name(), block.Term.Kind())
	}
	// h = x1 + sin(3 x2) + x2 x3/2 + level/2 + noise; levels in order of the alphabet.
	if c := block.Coef; math.Abs(c[2]-c[0]-1) > 0.15 || math.Abs(c[1]-c[0]-0.5) > 0.15 {
		t.Errorf("effects %v", c)
	}
}
