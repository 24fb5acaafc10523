package onnx

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// ordinalGolden is testdata/golden/ordinal.json.
type ordinalGolden struct {
	X     [][]float64
	Cases []ordinalCase
}

type ordinalCase struct {
	Name         string
	Model        []byte
	Y, Eta       []float64
	Classes      [][]float64
	Loglik, Null float64
}

func readOrdinal(t *testing.T) (want ordinalGolden) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/golden/ordinal.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil || len(want.Cases) == 0 {
		t.Fatal(err)
	}
	return want
}

// TestOrdinalNetworks: the predictor behind ordered classes and its thresholds give ONNX
// Runtime's probabilities of the classes (float32: 1e-6) and their likelihood, the predictor
// being PyTorch's own (rows enter as float32: 1e-6); where columns have
// weights of their own, or constants in no order, they stay predictors.
func TestOrdinalNetworks(t *testing.T) {
	golden := readOrdinal(t)
	names := []string{"x1", "x2", "x3"}
	for _, c := range golden.Cases {
		g, err := Load(bytes.NewReader(c.Model), nil)
		if err != nil {
			t.Fatal(err)
		}
		bind, err := Bind(g, numericSchema(names...), map[string][]string{"x": names})
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(g, bind, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Structure().Predictors
		if c.Classes == nil {
			if len(p) != 3 || p[0].Ordinal != nil || p[0].Head != "sigmoid" {
				t.Errorf("%s: %d predictors, head %q", c.Name, len(p), p[0].Head)
			}
			if said := strings.Contains(strings.Join(m.Structure().Notes, "\n"), "which are not in order"); said != strings.HasPrefix(c.Name, "unordered") {
				t.Errorf("%s: notes %q", c.Name, m.Structure().Notes)
			}
			continue
		}
		if len(p) != 1 || p[0].Ordinal == nil || p[0].Head != "ordinal" || len(p[0].HeadNodes) == 0 {
			t.Errorf("%s: %d predictors, first %+v", c.Name, len(p), p[0])
			continue
		}
		b := batchOf(t, names, golden.X)
		out := outputsFor(m, len(golden.X))
		if err := m.Forward(context.Background(), out, b); err != nil {
			t.Fatal(err)
		}
		if err := decomposetest.Model(m, b, 1e-12); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		own := p[0].Ordinal
		levels := make([]float64, len(own.Thresholds)+1)
		for k := range levels {
			levels[k] = float64(k)
		}
		if own.Descending {
			slices.Reverse(levels)
		}
		f, err := family.NewOrdinal(levels, own.Thresholds)
		if err != nil {
			t.Fatal(err)
		}
		tolerance, scaled := 1e-6, strings.HasPrefix(c.Name, "scaled")
		if strings.HasPrefix(c.Name, "link64") {
			tolerance = 1e-12
		}
		loglik := 0.0
		for i, want := range c.Classes {
			eta := out.Eta.RawRowView(i)
			if math.Abs(eta[0]-c.Eta[i]) > 1e-6 && !scaled {
				t.Fatalf("%s: eta of row %d is %.9g, want %.9g", c.Name, i, eta[0], c.Eta[i])
			}
			for k, v := range want {
				if got := math.Exp(f.LogLik(float64(k), 1, eta, 1)); !(math.Abs(got-v) <= tolerance) {
					t.Fatalf("%s: class %d of row %d has probability %.9g, want %.9g", c.Name, k, i, got, v)
				}
			}
			loglik += f.LogLik(c.Y[i], 1, eta, 1)
		}
		if !(math.Abs(loglik-c.Loglik) < 1e-4*math.Abs(c.Loglik)) {
			t.Errorf("%s: log-likelihood %.8g, want %.8g", c.Name, loglik, c.Loglik)
		}
		lower := strings.HasPrefix(c.Name, "below") || strings.HasPrefix(c.Name, "above_cuts") || scaled
		if own.Descending != lower {
			t.Errorf("%s: descending %v", c.Name, own.Descending)
		}
		var text strings.Builder
		if err := m.Structure().WriteText(&text); err != nil || !strings.Contains(text.String(), "cumulative logits of") {
			t.Errorf("%s: %v\n%s", c.Name, err, &text)
		}
	}
}

// TestOrdinalInTheZoo: differences by torch.diff over padded columns.
func TestOrdinalInTheZoo(t *testing.T) {
	g, err := LoadFile("../../testdata/zoo/networks/torch_dynamo/ordinal.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	// first, first + softplus(0.5), and that + softplus(0.2): cuts of float32
	want := []float64{-1, -1 + math.Log1p(math.Exp(0.5)), -1 + math.Log1p(math.Exp(0.5)) + math.Log1p(math.Exp(0.2))}
	own := s.Predictors[0].Ordinal
	if len(s.Predictors) != 1 || own == nil || len(own.Thresholds) != 3 {
		t.Fatalf("%+v", s.Predictors)
	}
	for k, c := range own.Thresholds {
		if math.Abs(c-want[k]) > 1e-6 {
			t.Errorf("thresholds %v, want %v", own.Thresholds, want)
		}
	}
}
