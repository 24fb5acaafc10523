package onnx

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// golden is what testdata/golden/torch_models.py writes.
type golden struct {
	Columns    []string
	X          [][]float64
	Predictors []struct {
		Name, Head string
		Intercept  float64
		Eta, Zeta  []float64
		Terms      []goldenTerm
		U          [][]float64
		Gamma      []float64
		Rank       int
		EtaUnstr   []float64 `json:"eta_unstr"`
	}
}

type goldenTerm struct {
	Name   string
	Values [][]float64
	Beta   []float64
}

func readGolden(t testing.TB, name string, o *Options) (*Model, golden, *data.Batch) {
	t.Helper()
	text, err := os.ReadFile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	g, err := LoadFile(name+".onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(t, want.Columns, want.X)
	bind, err := Bind(g, numericSchema(want.Columns...), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(g, bind, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, want, b
}

func batchOf(t testing.TB, names []string, x [][]float64) *data.Batch {
	t.Helper()
	b := data.NewBatch(len(x), 0)
	for j, c := range names {
		v := make([]float64, len(x))
		for i := range x {
			v[i] = x[i][j]
		}
		if err := b.SetNumeric(c, v); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func outputsFor(m decompose.Model, n int) *decompose.Outputs {
	k := len(m.Predictors())
	o := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, w := range m.Taps() {
		o.Taps[name] = mat.NewDense(n, w, nil)
	}
	return o
}

// Every network PyTorch exported: the structure that was built is found, with
// its coefficients; eta, bases and zeta are PyTorch's.
func TestDiscoverTorch(t *testing.T) {
	for _, name := range graphtest.GoldenNames(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			m, want, b := readGolden(t, name, nil)
			if err := compareGolden(m, want, b); err != nil {
				var s strings.Builder
				m.Structure().WriteText(&s)
				t.Errorf("%v\n%s", err, s.String())
			}
			if err := decomposetest.Model(m, b, 1e-12); err != nil {
				t.Error(err)
			}
		})
	}
}

// compareGolden is nil when the model is the golden one.
func compareGolden(m decompose.Model, want golden, b *data.Batch) error {
	n := b.Rows()
	out := outputsFor(m, n)
	if err := m.Forward(context.Background(), out, b); err != nil {
		return err
	}
	rows := b.Slice(0, n)
	for name, x := range out.Taps {
		if err := rows.SetTensor(name, x); err != nil {
			return err
		}
	}
	if len(m.Predictors()) != len(want.Predictors) {
		return fmt.Errorf("predictors %q, want %d", m.Predictors(), len(want.Predictors))
	}
	for k, p := range want.Predictors {
		if m.Predictors()[k] != p.Name {
			return fmt.Errorf("predictor %q, want %q", m.Predictors()[k], p.Name)
		}
		if mm, ok := m.(*Model); ok && mm.Head(k) != p.Head {
			return fmt.Errorf("%s: head %q, want %q", p.Name, mm.Head(k), p.Head)
		}
		if !near([]float64{m.Intercept(k)}, []float64{p.Intercept}, 1e-9) {
			return fmt.Errorf("%s: intercept %v, want %v", p.Name, m.Intercept(k), p.Intercept)
		}
		if got := mat.Col(nil, k, out.Eta); !near(got, p.Eta, 1e-9) {
			return fmt.Errorf("%s: eta differs", p.Name)
		}
		if got := mat.Col(nil, k, out.Zeta); !near(got, p.Zeta, 1e-9) {
			return fmt.Errorf("%s: zeta differs", p.Name)
		}
		blocks := m.Blocks(k)
		if len(blocks) != len(p.Terms) {
			return fmt.Errorf("%s: %d terms, want %d", p.Name, len(blocks), len(p.Terms))
		}
		for j, term := range p.Terms {
			got := blocks[j]
			if got.Term.Name() != term.Name {
				return fmt.Errorf("%s: term %q, want %q", p.Name, got.Term.Name(), term.Name)
			}
			if err := compareTerm(got, term, rows); err != nil {
				return fmt.Errorf("%s, %s: %w", p.Name, term.Name, err)
			}
		}
	}
	return nil
}

// compareTerm matches coefficients and basis column by column.
func compareTerm(b decompose.Block, want goldenTerm, rows *data.Batch) error {
	if !near(b.Coef, want.Beta, 1e-9) {
		return fmt.Errorf("beta %v, want %v", b.Coef, want.Beta)
	}
	x := mat.NewDense(rows.Rows(), b.Term.Dim(), nil)
	if err := b.Term.Eval(x, rows); err != nil {
		return err
	}
	for i, w := range want.Values {
		if !near(x.RawRowView(i), w, 1e-9) {
			return fmt.Errorf("basis, row %d: %v, want %v", i, x.RawRowView(i), w)
		}
	}
	return nil
}

func near(got, want []float64, tol float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*(1+math.Abs(w))) {
			return false
		}
	}
	return true
}

// The comparison above must notice a model that is subtly wrong.
func TestGoldenNoticesCorruption(t *testing.T) {
	name := filepath.Join("..", "..", "testdata", "golden", "models", "nam_deep_op13")
	for what, corrupt := range map[string]func(*Model){
		"a coefficient":      func(m *Model) { m.blocks[0][1].Coef[2] *= 1 + 1e-4 },
		"a tap column":       func(m *Model) { m.taps[1].from[0].tensor-- },
		"a deep coefficient": func(m *Model) { m.zeta[0][0].gamma[1] *= 1 + 1e-6 },
		"a deep unit":        func(m *Model) { m.zeta[0][0].n-- },
		"the predictor":      func(m *Model) { m.eta[0] = m.zeta[0][0].source },
		"a column's place":   func(m *Model) { m.feed[0][0], m.feed[0][1] = m.feed[0][1], m.feed[0][0] },
		"the intercept":      func(m *Model) { m.structure.found.Parts[0].Intercept += 1e-5 },
		"the order of terms": func(m *Model) { m.blocks[0][0], m.blocks[0][1] = m.blocks[0][1], m.blocks[0][0] },
	} {
		m, want, b := readGolden(t, name, nil)
		corrupt(m)
		if compareGolden(m, want, b) == nil {
			t.Errorf("%s corrupted, and nobody notices", what)
		}
	}
}

// The projection of these networks: numpy's, in float64.
func TestDecomposeTorch(t *testing.T) {
	for _, name := range graphtest.GoldenNames(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			m, want, b := readGolden(t, name, nil)
			table := data.NewTable(b.Rows())
			for _, c := range want.Columns {
				x, err := b.Numeric(c)
				if err != nil {
					t.Fatal(err)
				}
				if err := table.AddNumeric(c, x); err != nil {
					t.Fatal(err)
				}
			}
			r, err := decompose.Decompose(context.Background(), m, table, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Applier(m)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := a.Parts(context.Background(), b)
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range want.Predictors {
				if got := r.Predictors[k]; got.Rank != p.Rank || !(*got.ReconstructionError < 1e-12) {
					t.Errorf("%s: rank %d, want %d; reconstruction error %v", p.Name, got.Rank, p.Rank, *got.ReconstructionError)
				}
				if got := parts.Predictors[k].Unstructured; !near(got, p.EtaUnstr, 1e-8) {
					t.Errorf("%s: unstructured part\n%v, want\n%v", p.Name, got, p.EtaUnstr)
				}
			}
		})
	}
}
