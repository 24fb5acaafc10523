package basis_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// plateGolden is what testdata/golden/tp.R writes.
type plateGolden struct {
	Data          map[string]plateFrame
	Outside       plateFrame
	Constructions []struct {
		Name, Data, Formula string
		K, Null             int
		At                  []int
		X, S                [][]float64
		Scale               float64
	}
	Fits []struct {
		Name, Data, Formula string
		SP, Scale           []float64
		At                  []int
		Terms               []struct {
			Name   string
			Values []float64
		}
		EDF, Score float64
		FreeScore  float64 `json:"free_score"`
		FreeEDF    float64 `json:"free_edf"`
	}
}

type plateFrame struct {
	A, B, C, Z, Y []float64
	G             []string
}

func (f *plateFrame) table(t *testing.T) *data.Table {
	t.Helper()
	tab := data.NewTable(len(f.A))
	for name, x := range map[string][]float64{"a": f.A, "b": f.B, "c": f.C, "z": f.Z, "y": f.Y} {
		if err := tab.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("g", f.G); err != nil {
		t.Fatal(err)
	}
	return tab
}

// at takes some rows, then all of g.
func (f *plateFrame) at(rows []int, g *plateFrame) *plateFrame {
	out := &plateFrame{}
	for _, i := range rows {
		out.A, out.B, out.C, out.Z, out.Y, out.G = append(out.A, f.A[i]), append(out.B, f.B[i]), append(out.C, f.C[i]), append(out.Z, f.Z[i]), append(out.Y, f.Y[i]), append(out.G, f.G[i])
	}
	out.A, out.B, out.C, out.Z, out.Y, out.G = append(out.A, g.A...), append(out.B, g.B...), append(out.C, g.C...), append(out.Z, g.Z...), append(out.Y, g.Y...), append(out.G, g.G...)
	return out
}

func readPlates(t *testing.T) *plateGolden {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "testdata", "golden", "basis", "plate.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var g plateGolden
	if err := json.NewDecoder(z).Decode(&g); err != nil {
		t.Fatal(err)
	}
	if len(g.Constructions) < 17 || len(g.Fits) < 15 {
		t.Fatalf("%d constructions, %d fits", len(g.Constructions), len(g.Fits))
	}
	return &g
}

func blocksOf(t *testing.T, formula string, tab *data.Table) []decompose.Block {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func wholeBatch(t *testing.T, tab *data.Table) *data.Batch {
	t.Helper()
	for b, err := range tab.Batches(context.Background(), tab.Schema().Names()) {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Fatal("no rows")
	return nil
}

// TestThinPlateConstruction: basis, penalty and its scale are mgcv's, up to the
// signs of eigenvectors.
func TestThinPlateConstruction(t *testing.T) {
	const tolerance = 1e-7
	g := readPlates(t)
	for _, c := range g.Constructions {
		t.Run(c.Name, func(t *testing.T) {
			frame := g.Data[c.Data]
			tab := frame.table(t)
			block := blocksOf(t, "~ "+c.Formula, tab)[0]
			if block.Term.Dim() != c.K {
				t.Fatalf("%d columns, mgcv has %d", block.Term.Dim(), c.K)
			}
			b := wholeBatch(t, tab)
			x := mat.NewDense(b.Rows(), c.K, nil)
			if err := block.Term.Eval(x, b); err != nil {
				t.Fatal(err)
			}
			worst, sign := 0.0, make([]float64, c.K)
			for j := range sign {
				dot := 0.0
				for l, i := range c.At {
					dot += x.At(i, j) * c.X[l][j]
				}
				sign[j] = math.Copysign(1, dot)
				for l, i := range c.At {
					worst = max(worst, math.Abs(sign[j]*x.At(i, j)-c.X[l][j])) // the columns' rms is 1
				}
			}
			if !(worst < tolerance) {
				t.Errorf("the basis differs by %g", worst)
			}
			s := block.Penalty.S[0]
			worst, size := 0.0, 0.0
			for i := range sign {
				for j := range sign {
					worst = max(worst, math.Abs(sign[i]*sign[j]*s.At(i, j)-c.S[i][j]))
					size = max(size, math.Abs(c.S[i][j]))
				}
			}
			if !(worst < tolerance*size) {
				t.Errorf("the penalty differs by %g of its largest entry", worst/size)
			}
			if _, factor := penalty.Scale(s, largestRow(t, block.Term, b)); !(math.Abs(factor*c.Scale-1) < tolerance) {
				t.Errorf("the penalty is scaled by %v, mgcv divides by %v", factor, c.Scale)
			}
		})
	}
}

// largestRow is the largest row 1-norm of a term.
func largestRow(t *testing.T, term decompose.Term, b *data.Batch) float64 {
	t.Helper()
	x := mat.NewDense(b.Rows(), term.Dim(), nil)
	if err := term.Eval(x, b); err != nil {
		t.Fatal(err)
	}
	return mat.Norm(x, math.Inf(1))
}

// column is a network whose output is a column of the data.
type column string

func (m column) Predictors() []string         { return []string{"eta"} }
func (m column) Columns() []string            { return []string{string(m)} }
func (m column) Intercept(int) float64        { return 0 }
func (m column) Blocks(int) []decompose.Block { return nil }
func (m column) Taps() map[string]int         { return nil }
func (m column) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	v, err := b.Numeric(string(m))
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, v)
	dst.Eta.SetCol(0, v)
	return ctx.Err()
}

// TestThinPlateFits compares whole fits at given smoothing parameters with
// mgcv's: edf, score, term values on the data and beyond.
func TestThinPlateFits(t *testing.T) {
	const tolerance = 1e-7
	g := readPlates(t)
	for _, c := range g.Fits {
		t.Run(c.Name, func(t *testing.T) {
			frame := g.Data[c.Data]
			tab := frame.table(t)
			sp := map[string][]float64{}
			blocks := blocksOf(t, c.Formula, tab)
			for j, term := range c.Terms {
				sp[term.Name] = c.SP[j : j+1]
				if c.Name == "equal" { // mgcv's scale depends on rounding there
					_, factor := penalty.Scale(blocks[j].Penalty.S[0], largestRow(t, blocks[j].Term, wholeBatch(t, tab)))
					sp[term.Name] = []float64{c.SP[j] / (factor * c.Scale[j])}
				}
			}
			model, err := decompose.With(column("y"), map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			r, err := decompose.Decompose(ctx, model, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}, Smoothing: decompose.Smoothing{SP: sp, Selection: penalty.Options{Criterion: penalty.REML}}})
			if err != nil {
				t.Fatal(err)
			}
			p := &r.Predictors[0]
			if d := math.Abs(p.EDF/c.EDF - 1); !(d < tolerance) {
				t.Errorf("edf %v, mgcv %v", p.EDF, c.EDF)
			}
			if d := math.Abs(*p.Score - c.Score); !(d < tolerance*math.Abs(c.Score)) {
				t.Errorf("score %.12g, mgcv %.12g", *p.Score, c.Score)
			}
			free, err := decompose.Decompose(ctx, model, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}, Smoothing: decompose.Smoothing{Selection: penalty.Options{Criterion: penalty.REML}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := &free.Predictors[0]; !(*got.Score <= c.FreeScore+tolerance*math.Abs(c.FreeScore)) || !(math.Abs(got.EDF/c.FreeEDF-1) < 1e-3) {
				t.Errorf("chosen by REML: score %.12g, edf %v; mgcv %.12g, %v", *got.Score, got.EDF, c.FreeScore, c.FreeEDF)
			}
			a, err := r.Applier(model)
			if err != nil {
				t.Fatal(err)
			}
			rows := wholeBatch(t, frame.at(c.At, &g.Outside).table(t))
			for j, want := range c.Terms {
				if p.Terms[j].Name != want.Name {
					t.Fatalf("term %d is %s, mgcv's %s", j, p.Terms[j].Name, want.Name)
				}
				e, err := a.Effect(ctx, 0, j, rows)
				if err != nil {
					t.Fatal(err)
				}
				worst, size := 0.0, 0.0
				first := len(c.At) // the centres differ by a constant
				for i, v := range want.Values {
					worst = max(worst, math.Abs((e.After[i]-mean(e.After[:first]))-(v-mean(want.Values[:first]))))
					size = max(size, math.Abs(v))
				}
				if !(worst < tolerance*size) {
					t.Errorf("%s differs by %g of its largest value", want.Name, worst/size)
				}
			}
		})
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
