package boosters

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// golden is a file of testdata, which golden.py there writes.
type golden struct {
	Library, Version string
	Cases            []goldenCase
}

type goldenCase struct {
	Name            string
	File            []byte
	Rows            [][]*float64
	Score, Response [][]string
	Names           []string
}

// goldens are the cases of all libraries and versions.
func goldens(t testing.TB) []golden { return unpacked[golden](t, "golden-*") }

// remade is the folder in which make check-boosters has made the files of testdata anew; "": it has not.
var remade = os.Getenv("PHO_BOOSTERS")

// unpacked are the files of testdata whose names match a pattern.
func unpacked[T any](t testing.TB, pattern string) (all []T) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(cmp.Or(remade, "testdata"), pattern+".json.gz"))
	if err != nil || len(paths) < 2 && remade == "" {
		t.Fatal("files of two versions are missing", paths, err)
	}
	for _, path := range paths {
		packed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(path, err)
		}
		var f T
		if err := json.NewDecoder(r).Decode(&f); err != nil {
			t.Fatal(path, err)
		}
		all = append(all, f)
	}
	return all
}

// rows are the rows row-major, missing numbers as NaN.
func (c *goldenCase) rows() (x []float64) {
	for _, row := range c.Rows {
		for _, v := range row {
			if v == nil {
				x = append(x, math.NaN())
			} else {
				x = append(x, *v)
			}
		}
	}
	return x
}

func parse(t testing.TB, rows [][]string) (x []float64) {
	t.Helper()
	for _, row := range rows {
		for _, s := range row {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
	}
	return x
}

// run computes tensors of g for rows, each row-major.
func run(t testing.TB, g *onnx.Graph, x []float64, rows int, tensors []string) [][]float64 {
	t.Helper()
	e, err := onnx.GoEngine{}.Prepare(g, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var dst, inputs [][]float64
	for _, name := range tensors {
		v, _ := g.Tensor(name)
		dst = append(dst, make([]float64, rows*v.Width()))
	}
	columns, at := len(x)/rows, 0
	for _, v := range g.Inputs() {
		in := make([]float64, 0, rows*v.Width())
		for r := range rows {
			in = append(in, x[r*columns+at:r*columns+at+v.Width()]...)
		}
		inputs, at = append(inputs, in), at+v.Width()
	}
	if err := e.Run(dst, inputs, rows); err != nil {
		t.Fatal(err)
	}
	return dst
}

// answers is what the library predicts from the responses of g.
func answers(library, name string, y [][]float64, rows int) []float64 {
	var out []float64
	for r := range rows {
		for _, of := range y {
			k := len(of) / rows
			own := of[r*k : (r+1)*k]
			switch {
			case library == "xgboost" && name == "softmax":
				best := 0
				for j, p := range own {
					if p > own[best] {
						best = j
					}
				}
				out = append(out, float64(best))
			case name == "hinge":
				out = append(out, 0)
				if own[0] > 0 {
					out[len(out)-1] = 1
				}
			case name == "square root":
				out = append(out, own[0]*math.Abs(own[0]))
			default:
				out = append(out, own...)
			}
		}
	}
	return out
}

// TestGolden: scores are XGBoost's to the last bit of float32, and LightGBM's to that of float64 where a tree's
// leaves are numbers; predictions as exactly as float32 and the exponential function of C allow.
func TestGolden(t *testing.T) {
	for _, g := range goldens(t) {
		for _, c := range g.Cases {
			t.Run(fmt.Sprintf("%s %s/%s", g.Library, g.Version, c.Name), func(t *testing.T) {
				n, err := Load(bytes.NewReader(c.File), nil)
				if err != nil {
					t.Fatal(err)
				}
				rows := len(c.Rows)
				var outputs []string
				for _, o := range n.Outputs() {
					outputs = append(outputs, o.Name)
				}
				raw := "pho/score"
				if _, averaged := n.Tensor("pho/sum"); averaged { // LightGBM's raw score is the sum all the same
					raw = "pho/sum"
				}
				got := run(t, n, c.rows(), rows, append([]string{raw}, outputs...))
				score, want := got[0], parse(t, c.Score)
				if len(score) != len(want) {
					t.Fatalf("%d scores, want %d", len(score), len(want))
				}
				k := len(score) / rows
				for i, w := range want {
					if d := math.Abs(score[i] - w); !(d <= c.exactness(g.Library)*math.Abs(w)) {
						t.Fatalf("row %d, score %d: %v, want %v (%v)", i/k, i%k, score[i], w, c.rows()[i/k*4:i/k*4+4])
					}
				}
				y, want := answers(g.Library, c.Name, got[1:], rows), parse(t, c.Response)
				if len(y) != len(want) {
					t.Fatalf("%d responses, want %d", len(y), len(want))
				}
				for i, w := range want {
					if d := math.Abs(y[i] - w); !(d <= 1e-6*max(math.Abs(w), 1e-3)) {
						t.Fatalf("row %d: %v, want %v", i, y[i], w)
					}
				}
			})
		}
	}
}

// exactness is how far a score may be from the library's, relatively: not at all, but for linear functions, which
// are summed in another order, XGBoost's of float32.
func (c *goldenCase) exactness(library string) float64 {
	switch {
	case !strings.HasPrefix(c.Name, "linear"):
		return 0
	case library == "xgboost":
		return 1e-6
	}
	return 1e-9 // 3.3.5 writes some coefficients with fewer digits
}
