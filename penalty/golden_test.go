package penalty

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The tests in this file compare with mgcv; see testdata/golden/README.md.
const goldenDir = "../testdata/golden/mgcv"

type goldenCase struct {
	Case       string
	Method     string
	Gamma      float64
	KnownScale float64 `json:"known_scale"`
	RowsTotal  int     `json:"rows_total"`
	Score      float64
	Scale      float64
	REMLScale  *float64 `json:"reml_scale"`
	EDFTotal   float64  `json:"edf_total"`
	SP         []float64
	Hessian    [][]float64
	Rows       []int
	Terms      []struct {
		Name, Kind     string
		Columns        int
		EDF            float64
		Values, SE, SP []float64
	}
}

type goldenPieces struct {
	Case       goldenCase
	X          [][]float64
	Y, W       []float64
	MatrixOf   string `json:"matrix_of"`
	Parametric int
	Smooths    []struct {
		Name       string
		Start, Dim int
		S          [][][]float64
		SP         []float64
		Link       []string
	}
	EDF1, EDF2 []float64
	VC         [][]float64
	Moments    *struct {
		Rows    int64
		SumW    float64 `json:"sum_w"`
		SumLogW float64 `json:"sum_log_w"`
		XX      []json.RawMessage
		XZ      []float64
		ZZ      float64
		XMean   []float64 `json:"x_mean"`
	}
	XRows      []int       `json:"X_rows"`
	TermValues [][]float64 `json:"term_values"`
	TermSE     [][]float64 `json:"term_se"`
	TermEDF    []float64   `json:"term_edf"`
}

func readPieces(t testing.TB, name string) *goldenPieces {
	t.Helper()
	f, err := os.Open(filepath.Join(goldenDir, "pieces_"+name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	g := new(goldenPieces)
	if err := json.NewDecoder(z).Decode(g); err != nil {
		t.Fatal(err)
	}
	if g.MatrixOf != "" {
		from := readPieces(t, g.MatrixOf)
		g.X, g.Y = from.X, from.Y
	}
	return g
}

// problem assembles the moments, the parametric columns as one term "parametric".
func (g *goldenPieces) problem(t testing.TB) *Problem {
	t.Helper()
	var p *Problem
	if m := g.Moments; m != nil {
		dim := len(m.XZ)
		p = &Problem{Rows: m.Rows, SumW: m.SumW, SumLogW: m.SumLogW, Intercept: true,
			XX: mat.NewSymDense(dim, nil), XZ: m.XZ, ZZ: m.ZZ}
		for i, raw := range m.XX {
			var row []float64
			if err := json.Unmarshal(raw, &row); err != nil { // R writes a single number without brackets
				row = make([]float64, 1)
				if err := json.Unmarshal(raw, &row[0]); err != nil {
					t.Fatal(err)
				}
			}
			for j, v := range row {
				p.XX.(*mat.SymDense).SetSym(i, j, v)
			}
		}
	} else {
		x := mat.NewDense(len(g.X), len(g.X[0])-1, nil)
		for i, row := range g.X {
			x.SetRow(i, row[1:])
		}
		p = momentsOf(x, g.Y, g.W, true)
	}
	if g.Parametric > 0 {
		p.Terms = append(p.Terms, Component{Name: "parametric", Dim: g.Parametric})
	}
	for _, s := range g.Smooths {
		term := Component{Name: s.Name, Start: s.Start, Dim: s.Dim, SP: s.SP, Link: s.Link}
		for _, rows := range s.S {
			m := mat.NewSymDense(s.Dim, nil)
			for i, row := range rows {
				for j, v := range row {
					m.SetSym(i, j, v)
				}
			}
			term.S = append(term.S, m)
		}
		p.Terms = append(p.Terms, term)
	}
	return p
}

func (g *goldenPieces) options() *Options {
	m, _ := ParseCriterion(g.Case.Method)
	return &Options{Criterion: m, Gamma: g.Case.Gamma, Scale: g.Case.KnownScale}
}

// at is the problem with all smoothing parameters fixed at sp.
func (p *Problem) at(sp []float64) *Problem {
	q := *p
	q.Terms = append([]Component(nil), p.Terms...)
	for i := range q.Terms {
		k := len(q.Terms[i].S)
		q.Terms[i].SP, sp = sp[:k], sp[k:]
		q.Terms[i].DF = 0
	}
	return &q
}

// terms returns values and standard errors of the smooth terms: rows x terms.
func (g *goldenPieces) terms(f *Fit) (values, se [][]float64, want, wantSE [][]float64) {
	rows := g.XRows
	if g.Moments == nil {
		rows = g.Case.Rows
	}
	for r, i := range rows {
		x := g.X[r]
		if g.Moments == nil {
			x = g.X[i]
		}
		var v, e, wv, we []float64
		for t, s := range g.Smooths {
			sum, variance := 0.0, 0.0
			for a := s.Start; a < s.Start+s.Dim; a++ {
				sum += x[1+a] * f.Alpha[a]
				for b := s.Start; b < s.Start+s.Dim; b++ {
					variance += x[1+a] * x[1+b] * f.Vp.At(a, b)
				}
			}
			v, e = append(v, sum), append(e, math.Sqrt(variance))
			if g.Moments != nil {
				wv, we = append(wv, g.TermValues[r][t]), append(we, g.TermSE[r][t])
				continue
			}
			for _, gt := range g.Case.Terms {
				if gt.Name == strings.ReplaceAll(s.Name, " ", "") {
					wv, we = append(wv, gt.Values[r]), append(we, gt.SE[r])
				}
			}
		}
		values, se, want, wantSE = append(values, v), append(se, e), append(want, wv), append(wantSE, we)
	}
	return values, se, want, wantSE
}

func goldenNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goldenDir, "pieces_*.json.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files in %s: %v", goldenDir, err)
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "pieces_"), ".json.gz")
	}
	return paths
}

// farApart is max|a-b|/max|b| over each column.
func farApart(a, b [][]float64) float64 {
	worst := 0.0
	for c := range b[0] {
		diff, size := 0.0, 0.0
		for r := range b {
			diff, size = math.Max(diff, math.Abs(a[r][c]-b[r][c])), math.Max(size, math.Abs(b[r][c]))
		}
		worst = math.Max(worst, diff/size)
	}
	return worst
}

func TestFitAtMgcvSmoothingParameters(t *testing.T) {
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			g := readPieces(t, name)
			p := g.problem(t)
			f, err := Select(p.at(g.Case.SP), g.options())
			if err != nil {
				t.Fatal(err)
			}
			// With 3.6e10 next to 4e-8, mgcv's own solution holds a digit less.
			limit := 1e-7
			if slices.Max(g.Case.SP) > 1e17*slices.Min(g.Case.SP) {
				limit = 1e-6
			}
			near := func(what string, got, want float64) {
				t.Helper()
				if d := math.Abs(got-want) / math.Abs(want); !(d <= limit) {
					t.Errorf("%s: got %.12g, mgcv has %.12g (relative difference %.1e)", what, got, want, d)
				} else {
					t.Logf("%s: relative difference %.1e", what, d)
				}
			}
			near("score", f.Score, g.Case.Score)
			near("edf", f.EDFTotal, g.Case.EDFTotal)
			near("scale", f.Scale, g.Case.Scale)
			if g.Case.REMLScale != nil {
				near("REML scale", f.Phi, *g.Case.REMLScale)
			}
			for i, s := range g.Smooths {
				want := 0.0
				if g.TermEDF != nil {
					want = g.TermEDF[i]
				}
				for _, term := range g.Case.Terms {
					if term.Name == strings.ReplaceAll(s.Name, " ", "") {
						want = term.EDF
					}
				}
				near("edf of "+s.Name, f.EDF[len(f.EDF)-len(g.Smooths)+i], want)
			}
			values, se, want, wantSE := g.terms(f)
			if d := farApart(values, want); !(d <= limit) {
				t.Errorf("term values differ by %.1e", d)
			} else {
				t.Logf("term values differ by %.1e", d)
			}
			if d := farApart(se, wantSE); !(d <= limit) {
				t.Errorf("standard errors differ by %.1e", d)
			} else {
				t.Logf("standard errors differ by %.1e", d)
			}
		})
	}
}

func TestSelectionAgainstMgcv(t *testing.T) {
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			g := readPieces(t, name)
			f, err := Select(g.problem(t), g.options())
			if err != nil {
				t.Fatal(err)
			}
			last := f.Log[len(f.Log)-1]
			t.Logf("%v after %d iterations, gradient %.1e, score %.12g (mgcv's minus ours: %.1e)",
				f.Status, last.Iteration, last.GradNorm, f.Score, g.Case.Score-f.Score)
			if f.Status != Converged && f.Status != AtBound {
				t.Errorf("status %v", f.Status)
			}
			if last.Iteration >= 20 {
				t.Errorf("%d iterations", last.Iteration)
			}
			if !(f.Score <= g.Case.Score+1e-7*math.Abs(g.Case.Score)) {
				t.Errorf("score %.12g is above mgcv's %.12g", f.Score, g.Case.Score)
			}
			at := 0
			var entries []int
			sets := g.problem(t).links()
			for j, l := range f.Lambda {
				if f.Fixed[j] {
					continue
				}
				if l != f.Lambda[sets[j]] {
					t.Errorf("lambda %d is %g, linked to one of %g", j, l, f.Lambda[sets[j]])
				}
				if sets[j] == j {
					entries = append(entries, j)
					at++
				}
				entry := slices.Index(entries, sets[j])
				curvature := f.Hessian.At(entry, entry)
				d := math.Abs(math.Log(l / g.Case.SP[j]))
				if curvature > 0.1 && d > 1e-3 {
					t.Errorf("lambda %d: got %g, mgcv has %g (log differs by %.1e, curvature %.2g)", j, l, g.Case.SP[j], d, curvature)
				}
				if g.Case.SP[j] > 1e8 && !f.AtInfinity[j] {
					t.Errorf("lambda %d: %g should be at infinity, mgcv has %g", j, l, g.Case.SP[j])
				}
			}
		})
	}
}
