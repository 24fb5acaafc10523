package basis

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// response is a model whose predictor is a column: its decomposition under a
// penalty is the additive model of that column.
type response struct{}

func (response) Predictors() []string         { return []string{"eta"} }
func (response) Columns() []string            { return []string{"y"} }
func (response) Intercept(int) float64        { return 0 }
func (response) Blocks(int) []decompose.Block { return nil }
func (response) Taps() map[string]int         { return nil }
func (response) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	y, err := b.Numeric("y")
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, y)
	dst.Eta.SetCol(0, y)
	return nil
}

type termsGolden struct {
	Data struct {
		X    []float64 `json:"x"`
		Z    []float64 `json:"z"`
		V    []float64 `json:"v"`
		Hour []float64 `json:"hour"`
		Y    []float64 `json:"y"`
		G    []string  `json:"g"`
		H    []string  `json:"h"`
	} `json:"data"`
	Cases []termsCase `json:"cases"`
}

type termsCase struct {
	Name    string      `json:"name"`
	Formula string      `json:"formula"`
	Select  bool        `json:"select"`
	Agree   string      `json:"agree"`
	Score   float64     `json:"score"`
	EDF     float64     `json:"edf"`
	Fitted  []float64   `json:"fitted"`
	Labels  []string    `json:"labels"`
	Values  [][]float64 `json:"values"`
	Smooths []struct {
		Name    string    `json:"name"`
		EDF     float64   `json:"edf"`
		Columns int       `json:"columns"`
		SP      []float64 `json:"sp"`
		Scale   []float64 `json:"scale"`
	} `json:"smooths"`
}

func readTerms(t *testing.T) (*termsGolden, *data.Table) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "testdata", "golden", "basis", "terms.json.gz"))
	must(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	must(t, err)
	var g termsGolden
	must(t, json.NewDecoder(text).Decode(&g))
	tab := data.NewTable(len(g.Data.Y))
	for name, x := range map[string][]float64{"x": g.Data.X, "z": g.Data.Z, "v": g.Data.V, "hour": g.Data.Hour, "y": g.Data.Y} {
		must(t, tab.AddNumeric(name, x))
	}
	must(t, tab.AddTexts("g", g.Data.G))
	must(t, tab.AddTexts("h", g.Data.H))
	return &g, tab
}

// fitTerms fits a formula to y at fixed smoothing parameters, given by term name.
func fitTerms(t *testing.T, tab *data.Table, text string, selected bool, sp map[string][]float64) (*decompose.Result, *mat.Dense) {
	t.Helper()
	f, err := Parse(text, &Options{Schema: tab.Schema(), Select: selected})
	must(t, err)
	ctx := context.Background()
	blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(response{}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r, err := decompose.Decompose(ctx, m, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM, Terms: decompose.Fitted}, Smoothing: decompose.Smoothing{SP: sp, Selection: penalty.Options{}}})
	must(t, err)
	a, err := r.Applier(m)
	must(t, err)
	values := mat.NewDense(tab.Rows(), len(r.Predictors[0].Terms), nil)
	at := 0
	for parts, err := range a.All(ctx, tab) {
		must(t, err)
		n, _ := parts.Predictors[0].Terms.Dims()
		values.Slice(at, at+n, 0, len(r.Predictors[0].Terms)).(*mat.Dense).Copy(parts.Predictors[0].Terms)
		at += n
	}
	return r, values
}

// TestTermsAgainstMgcv compares whole models with mgcv at its own smoothing
// parameters: score, edf and values of every term, and the columns it is left with.
func TestTermsAgainstMgcv(t *testing.T) {
	const tolerance = 1e-7
	g, tab := readTerms(t)
	if len(g.Cases) < 50 {
		t.Fatalf("%d cases", len(g.Cases))
	}
	worst := 0.0
	for _, c := range g.Cases {
		t.Run(c.Name, func(t *testing.T) {
			sp := map[string][]float64{}
			for _, s := range c.Smooths {
				if len(s.SP) > 0 {
					sp[ours(s.Name)] = s.SP
				}
			}
			if c.Agree == "rescaled" {
				c.rescale(t, tab, sp)
			}
			r, values := fitTerms(t, tab, c.Formula, c.Select, sp)
			p := &r.Predictors[0]
			if len(p.Terms) != len(c.Labels) {
				t.Fatalf("%d terms, mgcv has %v", len(p.Terms), c.Labels)
			}
			for _, s := range c.Smooths {
				if j := termAt(t, p, ours(s.Name)); p.Terms[j].Columns != s.Columns {
					t.Errorf("%s: %d columns, mgcv has %d", s.Name, p.Terms[j].Columns, s.Columns)
				}
			}
			if c.Agree == "columns" {
				return
			}
			if len(sp) > 0 && c.Agree != "no score" {
				if p.Score == nil {
					t.Error("no score")
				} else if d := math.Abs(*p.Score-c.Score) / math.Abs(c.Score); !(d <= tolerance) {
					t.Errorf("score %v, mgcv's %v", *p.Score, c.Score)
				}
			}
			if d := math.Abs(p.EDF - c.EDF); !(d <= tolerance*c.EDF) {
				t.Errorf("edf %v, mgcv's %v", p.EDF, c.EDF)
			}
			for _, s := range c.Smooths {
				j := termAt(t, p, ours(s.Name))
				if d := math.Abs(p.Terms[j].EDF - s.EDF); !(d <= tolerance*c.EDF) {
					t.Errorf("%s: edf %v, mgcv's %v", s.Name, p.Terms[j].EDF, s.EDF)
				}
			}
			size := 0.0
			for _, v := range c.Values {
				for _, x := range v {
					size = max(size, math.Abs(x))
				}
			}
			for l, label := range c.Labels {
				j := termAt(t, p, ours(label))
				mean := stat.Mean(c.Values[l], nil)
				for i, want := range c.Values[l] {
					d := math.Abs(values.At(i, j)-(want-mean)) / size
					worst = max(worst, d)
					if !(d <= tolerance) {
						t.Errorf("%s, row %d: %v, mgcv's %v", label, i, values.At(i, j), want-mean)
						break
					}
				}
			}
		})
	}
	t.Logf("largest difference of a term value: %.2g of the largest value", worst)
}

// rescale changes mgcv's smoothing parameters of a factor smooth, which are for its
// own coordinates of the null space, to ours.
func (c *termsCase) rescale(t *testing.T, tab *data.Table, sp map[string][]float64) {
	f, err := Parse(c.Formula, &Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs[:1], nil)
	must(t, err)
	norm := 0.0
	for b, err := range tab.Batches(context.Background(), f.Specs[0].Columns()) {
		must(t, err)
		x := evaluate(t, blocks[0].Term, b)
		for i := range b.Rows() {
			sum := 0.0
			for _, v := range x.RawRowView(i) {
				sum += math.Abs(v)
			}
			norm = max(norm, sum)
		}
	}
	s := c.Smooths[0]
	for i, p := range blocks[0].Penalty.S {
		_, factor := penalty.Scale(p, norm)
		sp[s.Name][i] = s.SP[i] / (s.Scale[i] * factor)
	}
}

// ours is mgcv's label of a term as this package writes it: its data frame has an
// ordered copy og of g.
func ours(label string) string { return strings.ReplaceAll(label, ":og", ":g") }

func termAt(t *testing.T, p *decompose.Predictor, name string) int {
	t.Helper()
	for j := range p.Terms {
		if p.Terms[j].Name == name {
			return j
		}
	}
	t.Fatalf("no term %q", name)
	return 0
}
