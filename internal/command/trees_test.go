package command

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// forest is a TreeEnsembleRegressor as its file has it.
type forest struct {
	ints   map[string][]int64
	floats map[string][]float32
	modes  []string
}

func readForest(t *testing.T, path string) *forest {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	f := &forest{ints: map[string][]int64{}, floats: map[string][]float32{}}
	for _, n := range m.Graph.Node {
		for _, a := range n.Attribute {
			f.ints[a.Name], f.floats[a.Name] = a.Ints, a.Floats
			for _, s := range a.Strings {
				if a.Name == "nodes_modes" {
					f.modes = append(f.modes, string(s))
				}
			}
		}
	}
	return f
}

// node is the index of a node of a tree.
func (f *forest) node(tree, id int64) int {
	for i, t := range f.ints["nodes_treeids"] {
		if t == tree && f.ints["nodes_nodeids"][i] == id {
			return i
		}
	}
	return -1
}

// walk is what a tree adds for a row, with <= at every split.
func (f *forest) walk(tree int64, x []float64) float64 {
	i := f.node(tree, 0)
	for f.modes[i] != "LEAF" {
		next := f.ints["nodes_falsenodeids"][i]
		if float32(x[f.ints["nodes_featureids"][i]]) <= f.floats["nodes_values"][i] {
			next = f.ints["nodes_truenodeids"][i]
		}
		i = f.node(tree, next)
	}
	for k, id := range f.ints["target_nodeids"] {
		if f.ints["target_treeids"][k] == tree && id == f.ints["nodes_nodeids"][i] {
			return float64(f.floats["target_weights"][k])
		}
	}
	return math.NaN()
}

// term is the name of the term that a tree belongs to.
func (f *forest) term(tree int64) string {
	var columns []string
	for i, t := range f.ints["nodes_treeids"] {
		name := fmt.Sprintf("x%d", f.ints["nodes_featureids"][i])
		if t == tree && f.modes[i] != "LEAF" && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	return "f(" + strings.Join(columns, ",") + ")"
}

// LightGBM's trees of depth two, decomposed: the contribution of each term is the sum
// over the trees on its columns, up to a constant, and there is no remainder. The trees
// are walked here as the file lists them.
func TestContributionsOfTrees(t *testing.T) {
	const n = 200
	dir := t.TempDir()
	model := filepath.Join("..", "..", "testdata", "zoo", "networks", "lightgbm", "pairs.onnx")
	f := readForest(t, model)
	r := rand.New(rand.NewPCG(4, 2))
	text := "x0,x1,x2,x3\n"
	x := make([][]float64, n)
	for i := range x {
		for j := range 4 {
			x[i] = append(x[i], 1.5*r.NormFloat64())
			text += fmt.Sprint(x[i][j]) + ",\n"[j/3:j/3+1]
		}
	}
	write(t, filepath.Join(dir, "rows.csv"), text)
	done(t, "decompose", "--model", model, "--data", filepath.Join(dir, "rows.csv"), "--input", "X=x0..x3", "--terms", "fitted", "--out", filepath.Join(dir, "out"))
	records, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, "out", "contributions.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{"eta": make([]float64, n), "unstructured": make([]float64, n)}
	trees := map[int64]bool{}
	for _, tree := range f.ints["nodes_treeids"] {
		if trees[tree] {
			continue
		}
		trees[tree] = true
		name := f.term(tree)
		if want[name] == nil {
			want[name] = make([]float64, n)
		}
		for i := range x {
			v := f.walk(tree, x[i])
			want[name][i] += v
			want["eta"][i] += v
		}
	}
	if len(trees) != 12 || len(want) != 4 {
		t.Fatalf("%d trees, %d terms with eta and the remainder", len(trees), len(want))
	}
	for j, name := range records[0] {
		if name == "intercept" {
			continue
		}
		if want[name] == nil {
			t.Errorf("contributions of %q, which no tree has", name)
			continue
		}
		shift := number(t, records[1][j]) - want[name][0]
		if name == "eta" && math.Abs(shift) > 1e-12 {
			t.Errorf("eta of row 1 is off by %g", shift)
		}
		for i, record := range records[1:] {
			if d := number(t, record[j]) - want[name][i] - shift; math.Abs(d) > 1e-12 {
				t.Fatalf("%s of row %d is off by %g", name, i+1, d)
			}
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no contributions of %v", want)
	}
}
