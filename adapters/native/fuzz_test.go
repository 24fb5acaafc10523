package native

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// tape reads choices off the bytes of a fuzz input; behind its end all are 0.
type tape []byte

func (t *tape) next(n int) int {
	if len(*t) == 0 {
		return 0
	}
	v := int((*t)[0])
	*t = (*t)[1:]
	return v % n
}

func pickOne[T any](t *tape, of ...T) T { return of[t.next(len(of))] }

// columns picks some of the names, in their order.
func (t *tape) columns(names ...string) []string {
	var out []string
	for _, name := range names {
		if t.next(2) == 1 {
			out = append(out, name)
		}
	}
	return out
}

// table has columns of small numbers, of extreme ones, and of text.
func (t *tape) table(tb testing.TB) *rows.Frame {
	n := t.next(24)
	odd := []float64{0, 1, -1, 0.5, 2, 3, 1e-300, 1e300, -1e300, 1e15, math.Pi, 0.999999}
	tab := data.NewTable(n)
	for _, name := range []string{"y", "w", "o", "x1", "x2", "d"} {
		v := make([]float64, n)
		wild := t.next(3) == 0
		for i := range v {
			if v[i] = float64(t.next(256)) / 16; wild {
				v[i] = pickOne(t, odd...)
			}
			if name == "d" || name == "y" && !wild && i%2 == 0 {
				v[i] = math.Floor(math.Mod(v[i], 4))
			}
		}
		if err := tab.AddNumeric(name, v); err != nil {
			tb.Fatal(err)
		}
	}
	g := make([]string, n)
	for i := range g {
		g[i] = pickOne(t, "a", "b", "", "c\n")
	}
	if err := tab.AddTexts("g", g); err != nil {
		tb.Fatal(err)
	}
	f, err := rows.Read(context.Background(), tab, tab.Schema().Names())
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func (t *tape) config() Config {
	name := pickOne(t, "gaussian", "binomial", "poisson", "gamma", "negative-binomial", "negative-binomial(theta=2)", "beta", "student-t", "student-t(df=4)",
		"tweedie", "tweedie(p=1.5)", "inverse-gaussian", "zip", "zip(pi=0.2)", "lognormal", "weibull", "log-logistic", "cox")
	k := 1 + t.next(3)
	f, err := family.Parse(name, make([]string, k))
	for ; err != nil && k > 1; k-- {
		f, err = family.Parse(name, make([]string, k-1))
	}
	c := Config{
		Architecture: pickOne(t, SSN, SSN, NAM, MLP, GAM, "tree"), Response: "y", Family: f.(family.Differentiable),
		Event: pickOne(t, "", "", "d"), Weights: pickOne(t, "", "w", "d"), Offset: pickOne(t, "", "o"),
		Deep: Deep{
			Columns: t.columns("x1", "x2", "d", "g"), Factors: t.columns("d"), Hidden: []int{t.next(5), 1 + t.next(3)}, Activation: pickOne(t, "", ReLU, Tanh, GELU, "none"),
			Dropout: float64(t.next(5)) / 4, BatchNorm: t.next(2) == 1, Separate: t.next(2) == 1, Orthogonalize: t.next(4) == 1,
		},
		FeatureNetworks: FeatureNetworks{Columns: t.columns("x1", "x2", "d", "g"), Factors: t.columns("d"), Hidden: []int{1 + t.next(4)}, ExU: t.next(2) == 1, FeatureDropout: float64(t.next(3)) / 3, OutputPenalty: float64(t.next(3))},
		Training: Training{
			Epochs: 1 + t.next(2), BatchSize: 1 + t.next(9), Seed: uint64(t.next(4)), Workers: 1, Single: t.next(2) == 1,
			ValidationShare: pickOne(t, 0, -1, 0.5), LearningRate: pickOne(t, 0, 1e-3, 1e3, -1), Optimizer: pickOne(t, "", SGD, AdamW), ClipNorm: float64(t.next(2)),
		},
	}
	if formula := pickOne(t, "", "~ x1", "~ x1 + g", `~ s(x1, k=5) + d`, "~ x1 - 1", "~ nope", "mu = ~ x1", "~ s("); formula != "" {
		c.Structured.Formulas = []string{formula}
	}
	if t.next(3) == 1 {
		c.FeatureNetworks.Pairs = [][2]string{{pickOne(t, "x1", "d", "g"), pickOne(t, "x2", "d", "g")}}
	}
	if t.next(3) == 1 {
		c.FeatureNetworks.Products = [][2]string{{"x1", "x2"}}
	}
	return c
}

// FuzzTrain: small architectures of all kinds on small and odd data are trained or
// refused, and what was trained is a model.
func FuzzTrain(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{20, 1, 3, 77, 5, 130, 9}, 60))
	f.Add(bytes.Repeat([]byte{23, 2, 1, 250, 1, 40, 7, 1, 3}, 50))
	f.Add(bytes.Repeat([]byte{22, 1, 1, 0, 1, 2, 5, 1}, 50))
	f.Fuzz(func(t *testing.T, input []byte) {
		choices := tape(input)
		cfg := choices.config()
		rows := choices.table(t)
		m, fit, err := Train(context.Background(), cfg, rows)
		if err != nil {
			return
		}
		// A response of 1e15 next to ones is scaled by its deviation, and back, in which a
		// robust family's location keeps no digits: the score is then of another number.
		holds := !cfg.Training.Single && fit.evaluator.units.Scale < 1e12
		if v := fit.AdditiveLoss; holds && v-v == 0 && !(fit.Evaluation.Loss <= v+1e-6*(1+math.Abs(v))) {
			t.Errorf("%+v: loss %v, it began with %v", cfg, fit.Evaluation.Loss, v)
		}
		if err := decomposetest.Model(m, rows.Batch, 1e-6); err != nil && !strings.Contains(err.Error(), "predictor") { // of values past all bounds
			t.Errorf("%+v: %v", cfg, err)
		}
		for _, n := range m.Family().Name() {
			if n == 'N' { // NaN
				t.Errorf("family %s", m.Family().Name())
			}
		}
		_ = m.WriteONNX(&bytes.Buffer{}, nil) // refused or not
	})
}

// FuzzCheckpoint: training goes on from the file that it wrote, and from no other.
func FuzzCheckpoint(f *testing.F) {
	tab := simulated(f, 30, 1)
	dir := f.TempDir()
	cfg := Config{Response: "y", Family: parsed("student-t", 1), Deep: Deep{Columns: []string{"x1"}, Hidden: []int{2}},
		Training: Training{Epochs: 1, BatchSize: 16, Checkpoint: filepath.Join(dir, "whole"), Workers: 1}}
	mustTrain(f, cfg, tab)
	whole, err := os.ReadFile(cfg.Training.Checkpoint)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(checkpointFormat))
	f.Add([]byte{})
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-9] ^= 1
	f.Add(flipped)
	f.Fuzz(func(t *testing.T, file []byte) {
		c := cfg
		c.Training.Checkpoint, c.Training.Resume = filepath.Join(t.TempDir(), "c"), true
		if err := os.WriteFile(c.Training.Checkpoint, file, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Train(context.Background(), c, tab)
		if bytes.Equal(file, whole) != (err == nil) {
			t.Errorf("%d bytes: %v", len(file), err)
		}
		if err != nil && !strings.Contains(err.Error(), "cannot be read: ") {
			t.Errorf("%v", err)
		}
	})
}
