package basis

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/cubic"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// tolerance bounds max|ours - mgcv's| / max|mgcv's|.
const tolerance = 1e-12

type univariateGolden struct {
	X     []float64 `json:"x"`
	Cases []struct {
		Name  string      `json:"name"`
		BS    string      `json:"bs"`
		K     int         `json:"k"`
		M     []int       `json:"m"`
		Given []float64   `json:"knots_given"`
		Knots []float64   `json:"knots"`
		S     [][]float64 `json:"S"`
		Scale float64     `json:"scale"`
		Basis [][]float64 `json:"X"`
		At    []float64   `json:"at"`
		AtX   [][]float64 `json:"at_X"`
	} `json:"cases"`
}

func TestUnivariateAgainstMgcv(t *testing.T) {
	var g univariateGolden
	readGolden(t, "univariate.json", &g)
	if len(g.Cases) < 16 {
		t.Fatalf("%d golden cases", len(g.Cases))
	}
	for _, c := range g.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var u Univariate = CR{K: c.K, Knots: c.Given}
			if c.BS == "ps" {
				u = PS{K: c.K, M: c.M, Knots: c.Given}
			}
			blocks := mustBuild(t, Smooth("x", u, nil), numbers(t, "x", g.X))
			if len(blocks) != 1 || !blocks[0].Constraint.Equal(decompose.SumToZero()) || blocks[0].Base != nil {
				t.Fatalf("blocks: %+v", blocks)
			}
			term := blocks[0].Term
			var knots []float64
			switch b := smoothOf(term).basis.(type) {
			case *bspline.Basis:
				knots = b.Knots()
			case *cubic.Natural:
				knots = b.Knots()
			}
			compare(t, "knots", [][]float64{knots}, [][]float64{c.Knots})
			x := evaluate(t, term, numbers(t, "x", g.X))
			compare(t, "X", rowsOf(x), c.Basis)
			compare(t, "X at new rows", rowsOf(evaluate(t, term, numbers(t, "x", c.At))), c.AtX)

			// mgcv divides the penalty by S.scale as a part of its construction.
			norm := 0.0
			for _, row := range c.Basis {
				sum := 0.0
				for _, v := range row {
					sum += math.Abs(v)
				}
				norm = max(norm, sum)
			}
			compare(t, "S", rowsOf(blocks[0].Penalty.S[0]), c.S)
			if _, factor := penalty.Scale(blocks[0].Penalty.S[0], norm); math.Abs(factor*c.Scale-1) > 1e-10 {
				t.Errorf("penalty scale %v, mgcv's %v", factor, c.Scale)
			}
		})
	}
}

func TestByAgainstMgcv(t *testing.T) {
	var g struct {
		X      []float64 `json:"x"`
		Z      []float64 `json:"z"`
		Two    []float64 `json:"two"`
		G      []string  `json:"g"`
		H      []float64 `json:"h"`
		Blocks []struct {
			BS      string      `json:"bs"`
			By      string      `json:"by"`
			Label   string      `json:"label"`
			X       [][]float64 `json:"X"`
			Centred bool        `json:"centred"`
		} `json:"blocks"`
	}
	readGolden(t, "by.json", &g)
	b := data.NewBatch(len(g.X), 0)
	must(t, b.SetNumeric("x", g.X))
	must(t, b.SetNumeric("z", g.Z))
	must(t, b.SetNumeric("two", g.Two))
	must(t, b.SetNumeric("h", g.H))
	must(t, b.SetCodes("g", encode(g.G)))
	var got []decompose.Block
	for i, want := range g.Blocks {
		if i > 0 && want.By == g.Blocks[i-1].By && want.BS == g.Blocks[i-1].BS {
			continue
		}
		var u Univariate = CR{K: 5}
		if want.BS == "ps" {
			u = PS{K: 5}
		}
		got = append(got, mustBuild(t, Smooth("x", u, &SmoothOptions{By: want.By, ByFactor: want.By == "h"}), b)...)
	}
	if len(got) != len(g.Blocks) {
		t.Fatalf("%d blocks, mgcv has %d", len(got), len(g.Blocks))
	}
	for i, want := range g.Blocks {
		if got[i].Term.Name() != want.Label {
			t.Errorf("block %d is %s, mgcv's %s", i, got[i].Term.Name(), want.Label)
		}
		if centred := got[i].Constraint.Equal(decompose.SumToZero()); centred != want.Centred {
			t.Errorf("%s: centred %v, mgcv %v", want.Label, centred, want.Centred)
		}
		compare(t, want.Label, rowsOf(evaluate(t, got[i].Term, b)), want.X)

		// The bases of a block add up to the unmasked basis, on every row.
		sum := mat.NewDense(len(g.X), 5, nil)
		for _, base := range got[i].Base {
			sum.Add(sum, evaluate(t, base, b))
		}
		plain := mustBuild(t, Smooth("x", map[string]Univariate{"ps": PS{K: 5}, "cr": CR{K: 5}}[want.BS], nil), b)[0].Term
		compare(t, want.Label+" base", rowsOf(sum), rowsOf(evaluate(t, plain, b)))
	}
}

func compare(t *testing.T, what string, got, want [][]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	worst, largest := 0.0, 0.0
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s: row %d has %d values, want %d", what, i, len(got[i]), len(want[i]))
		}
		for j := range want[i] {
			d := math.Abs(got[i][j] - want[i][j])
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			worst, largest = max(worst, d), max(largest, math.Abs(want[i][j]))
		}
	}
	if worst > tolerance*largest {
		t.Errorf("%s: differs from mgcv by %.3g, relative %.3g", what, worst, worst/largest)
	}
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "golden", "basis", name))
	must(t, err)
	must(t, json.Unmarshal(text, into))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func numbers(t testing.TB, name string, x []float64) *data.Batch {
	t.Helper()
	b := data.NewBatch(len(x), 0)
	must(t, b.SetNumeric(name, x))
	return b
}

// encode gives codes in order of appearance.
func encode(cells []string) data.Codes {
	var c data.Codes
	at := map[string]int32{}
	for _, s := range cells {
		code, ok := at[s]
		if !ok {
			code = int32(len(c.Levels))
			at[s] = code
			c.Levels = append(c.Levels, s)
		}
		c.Index = append(c.Index, code)
	}
	return c
}

func mustBuild(t testing.TB, s decompose.Spec, batches ...*data.Batch) []decompose.Block {
	t.Helper()
	return buildWith(t, s.Scanner(), batches...)
}

// buildWith is mustBuild with a scanner that the test has a hand on.
func buildWith(t testing.TB, s decompose.Scanner, batches ...*data.Batch) []decompose.Block {
	t.Helper()
	for again := true; again; {
		for _, b := range batches {
			must(t, s.Scan(b))
		}
		again = false
		if r, ok := s.(decompose.Rescanner); ok {
			var err error
			again, err = r.Again()
			must(t, err)
		}
	}
	blocks, err := s.Build()
	must(t, err)
	return blocks
}

// evaluate fills the destination with NaN before Eval.
func evaluate(t testing.TB, term decompose.Term, b *data.Batch) *mat.Dense {
	t.Helper()
	dst := mat.NewDense(b.Rows(), term.Dim(), nil)
	dst.Apply(func(int, int, float64) float64 { return math.NaN() }, dst)
	must(t, term.Eval(dst, b))
	return dst
}

func rowsOf(m mat.Matrix) [][]float64 {
	r, _ := m.Dims()
	out := make([][]float64, r)
	for i := range out {
		out[i] = mat.Row(nil, i, m)
	}
	return out
}

func smoothOf(t decompose.Term) *SmoothTerm {
	if s, ok := t.(sparseSmooth); ok {
		return s.SmoothTerm
	}
	return t.(*SmoothTerm)
}
