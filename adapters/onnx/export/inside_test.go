package export_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// checkParts decomposes a network of x, x1 to x3, and checks what is written of it.
func checkParts(t *testing.T, name string, b *onnxpb.Builder, src *data.Table, kind onnxpb.TensorProto_DataType, terms int) []byte {
	t.Helper()
	file, err := b.Marshal()
	must(t, err)
	m, with, r := decomposed(t, file, src, "", &decompose.Options{})
	adapted := written(t, file, m, with, r)
	compare(t, name, adapted, m, r, src, kind)
	if got := len(r.Predictors[0].Terms); got != terms {
		t.Errorf("%s: %d terms, want %d", name, got, terms)
	}
	return adapted
}

// values are the numbers of a column.
func values(t *testing.T, src *data.Table, column int) []float64 {
	x := feedsOf(t, src)
	own := make([]float64, src.Rows())
	for i := range own {
		own[i] = x[3*i+column]
	}
	return own
}

func feedsOf(t *testing.T, src *data.Table) []float64 {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", double, onnxpb.Rows, 3)
	b.AddNode("Neg", []string{"x"}, "y")
	b.Output("y", double, onnxpb.Rows, 3)
	file, err := b.Marshal()
	must(t, err)
	g, err := onnx.Load(bytes.NewReader(file), nil)
	must(t, err)
	return feeds(t, g, src)[0]
}

// stumpsAndPairs are trees on x1, x1 and x2, and all columns, in all modes, with thresholds that
// rows meet, and a set of numbers as exporters write it.
func stumpsAndPairs(t *testing.T, src *data.Table) *graphtest.Trees {
	r := rand.New(rand.NewPCG(3, 5))
	tr := new(graphtest.Trees)
	at := func(column int64) float64 { return values(t, src, int(column))[r.IntN(src.Rows())] }
	tree := int64(0)
	for _, mode := range []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"} {
		for range 4 {
			tr.Branch(tree, 0, 0, mode, at(0), 1, 2).Leaf(tree, 1, r.NormFloat64()).Leaf(tree, 2, r.NormFloat64())
			tree++
			tr.Branch(tree, 0, 1, mode, at(1), 1, 2).Branch(tree, 1, 0, mode, at(0), 3, 4).Leaf(tree, 2, r.NormFloat64()).Leaf(tree, 3, r.NormFloat64()).Leaf(tree, 4, r.NormFloat64())
			tree++
		}
	}
	tr.Branch(tree, 0, 2, "BRANCH_EQ", at(2), 3, 1).Branch(tree, 1, 2, "BRANCH_EQ", at(2), 3, 2).Branch(tree, 2, 2, "BRANCH_EQ", at(2), 3, 4).Leaf(tree, 3, 2).Leaf(tree, 4, -1)
	return tr
}

// The parts of an ensemble are written as an ensemble with an output for each, whatever the
// modes and the type of the input.
func TestTrees(t *testing.T) {
	src := rows(t, 300)
	for _, kind := range []onnxpb.TensorProto_DataType{float, double} {
		for _, more := range [][]onnxpb.Attr{nil, {onnxpb.Text("aggregate_function", "AVERAGE")}} {
			b := onnxpb.NewBuilder(17)
			b.AddInput("x", kind, onnxpb.Rows, 3)
			stumpsAndPairs(t, src).Regressor(b, "x", "y", append(more, onnxpb.Floats("base_values", 0.5))...)
			b.Output("y", float, onnxpb.Rows, 1)
			adapted := checkParts(t, fmt.Sprintf("trees of %s, %d", kind, len(more)), b, src, float, 3)
			if got := strings.Count(string(adapted), "TreeEnsembleRegressor"); got != 2 {
				t.Errorf("%d ensembles, want the network's and its parts", got)
			}
		}
	}
}

// From version 5 of ai.onnx.ml on, TreeEnsemble is written.
func TestTreesFive(t *testing.T) {
	src := rows(t, 300)
	for _, kind := range []onnxpb.TensorProto_DataType{float, double} {
		split := values(t, src, 0)[7]
		b := onnxpb.NewBuilder(21)
		b.Import("ai.onnx.ml", 5)
		b.AddInput("x", kind, onnxpb.Rows, 3)
		b.AddNodes("ai.onnx.ml", "TreeEnsemble", []string{"x"}, []string{"y"},
			onnxpb.Ints("tree_roots", 0, 1, 2), onnxpb.Int("n_targets", 1), onnxpb.Ints("nodes_featureids", 0, 1, 2),
			onnxpb.TensorAttr("nodes_splits", kind, []int{3}, split, 5, 0.0), onnxpb.TensorAttr("nodes_modes", onnxpb.TensorProto_UINT8, []int{3}, int64(1), 2, 6),
			onnxpb.Ints("nodes_truenodeids", 0, 2, 4), onnxpb.Ints("nodes_trueleafs", 1, 1, 1), onnxpb.Ints("nodes_falsenodeids", 1, 3, 5), onnxpb.Ints("nodes_falseleafs", 1, 1, 1),
			onnxpb.TensorAttr("membership_values", kind, []int{2}, values(t, src, 2)[0], values(t, src, 2)[1]),
			onnxpb.Ints("leaf_targetids", 0, 0, 0, 0, 0, 0), onnxpb.TensorAttr("leaf_weights", kind, []int{6}, 1, -1, 2, 0.5, 3, 7.0))
		b.Output("y", kind, onnxpb.Rows, 1)
		checkParts(t, fmt.Sprintf("trees of version 5 of %s", kind), b, src, kind, 3)
	}
}

// Scores that an operator computes inside of itself are computed beside it.
func TestClassifier(t *testing.T) {
	src := rows(t, 300)
	b := onnxpb.NewBuilder(15)
	b.Import("ai.onnx.ml", 3)
	b.AddInput("x", float, onnxpb.Rows, 3)
	b.AddNodes("ai.onnx.ml", "LinearClassifier", []string{"x"}, []string{"label", "p"},
		onnxpb.Floats("coefficients", -1, 0.5, 0.25, 1, -0.5, -0.25), onnxpb.Floats("intercepts", 0.5, -0.5), onnxpb.Ints("classlabels_ints", 0, 1), onnxpb.Text("post_transform", "LOGISTIC"))
	b.Output("p", float, onnxpb.Rows, 2)
	checkParts(t, "classifier", b, src, float, 3)
}

// A tensor whose batch axis holds rows several times is taken apart by rows first.
func TestRowsSeveralTimes(t *testing.T) {
	src := rows(t, 300)
	for _, outer := range []bool{false, true} {
		b := onnxpb.NewBuilder(15)
		b.AddInput("x", float, onnxpb.Rows, 3)
		b.AddInts("entries", -1, 1)
		b.AddInts("three", 3, -1)
		b.AddInts("whole", -1, 3)
		b.AddInit("w", []int{1, 2}, 1, -0.5)
		b.AddInit("c", []int{2, 1}, 2, 1)
		b.AddInit("sum", []int{3, 1}, 1, 2, -1)
		x := "x"
		if outer {
			b.AddNode("Transpose", []string{"x"}, "xt", onnxpb.Ints("perm", 1, 0))
			x = "xt"
		}
		b.AddNode("Reshape", []string{x, "entries"}, "e")
		b.AddNode("MatMul", []string{"e", "w"}, "a")
		b.AddNode("Tanh", []string{"a"}, "h")
		b.AddNode("MatMul", []string{"h", "c"}, "f")
		if outer {
			b.AddNode("Reshape", []string{"f", "three"}, "ft")
			b.AddNode("Transpose", []string{"ft"}, "g", onnxpb.Ints("perm", 1, 0))
		} else {
			b.AddNode("Reshape", []string{"f", "whole"}, "g")
		}
		b.AddNode("MatMul", []string{"g", "sum"}, "y")
		b.Output("y", float, onnxpb.Rows, 1)
		checkParts(t, fmt.Sprintf("entries of rows, outer %v", outer), b, src, float, 3)
	}
}

// Levels are compared as float16 holds them; two that it does not tell apart are refused.
func TestHalfLevels(t *testing.T) {
	src := data.NewTable(60)
	levels := []float64{0.1, 0.2, 0.3}
	columns := [][]float64{make([]float64, 60), make([]float64, 60), make([]float64, 60)}
	for i := range 60 {
		columns[0][i], columns[1][i], columns[2][i] = levels[i%3], float64(i%4)/2, float64(i%5)/4
	}
	for j, x := range columns {
		must(t, src.AddNumeric(fmt.Sprintf("x%d", j+1), x))
	}
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT16, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 1}, 1, 2, -1)
	b.AddNode("Cast", []string{"x"}, "wide", onnxpb.Int("to", int64(float)))
	b.AddNode("MatMul", []string{"wide", "w"}, "m")
	b.AddNode("Tanh", []string{"m"}, "y")
	b.Output("y", float, onnxpb.Rows, 1)
	file, err := b.Marshal()
	must(t, err)
	m, with, r := decomposed(t, file, src, "~ factor(x1)", &decompose.Options{})
	compare(t, "levels of float16", written(t, file, m, with, r), m, r, src, float)

	for i := range 60 {
		columns[0][i] = []float64{0.1, 0.100001}[i%2]
	}
	near := data.NewTable(60)
	for j, x := range columns {
		must(t, near.AddNumeric(fmt.Sprintf("x%d", j+1), x))
	}
	m, with, _ = decomposed(t, file, near, "~ factor(x1)", &decompose.Options{})
	if err := export.Check(export.File{Model: file}, m, with, nil); err == nil || !strings.Contains(err.Error(), "the two cannot be told apart in the file") {
		t.Errorf("levels that are one number: %v", err)
	}
}

// What is inside of a function and cannot be computed beside it is refused by its name.
func TestInside(t *testing.T) {
	src := rows(t, 100)
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", float, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 1}, 1, 2, -1)
	graphtest.Function(b, "Waves", []string{"x", "w"}, []string{"y"}, func(b *onnxpb.Builder) {
		b.AddNode("Sin", []string{"x"}, "s")
		b.AddNode("Celu", []string{"s"}, "c")
		b.AddNode("MatMul", []string{"c", "w"}, "y")
	})
	b.AddNodes("local", "Waves", []string{"x", "w"}, []string{"y"})
	b.Output("y", float, onnxpb.Rows, 1)
	file, err := b.Marshal()
	must(t, err)
	m, with, _ := decomposed(t, file, src, "", &decompose.Options{})
	err = export.Check(export.File{Model: file}, m, with, nil)
	if err == nil || !strings.Contains(err.Error(), "is not in the file: it is computed inside of a function") {
		t.Errorf("inside of a function: %v", err)
	}
}

// What ZipMap writes is no tensor, and a tensor that the file declares with another number of
// axes is no matrix to a checker: parts do not read either as it stands.
func TestNotAsDeclared(t *testing.T) {
	src := rows(t, 200)
	b := onnxpb.NewBuilder(15)
	b.Import("ai.onnx.ml", 3)
	b.AddInput("x", float, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 2}, 1, 2, -1, 0.5, 1, 1)
	b.AddNode("MatMul", []string{"x", "w"}, "m")
	b.AddNode("Tanh", []string{"m"}, "p")
	b.AddNodes("ai.onnx.ml", "ZipMap", []string{"p"}, []string{"maps"}, onnxpb.Ints("classlabels_int64s", 0, 1))
	b.Output("maps", float, onnxpb.Rows, 2)
	b.AddInit("v", []int{3, 1}, 1, 2, -1)
	b.AddNode("MatMul", []string{"x", "v"}, "d")
	b.AddNode("Sin", []string{"d"}, "y")
	b.Output("y", float, onnxpb.Rows)
	for _, n := range decode(t, checkParts(t, "maps", b, src, float, 0)).Graph.Node {
		if !strings.HasPrefix(n.Name, "pho/") {
			continue
		}
		for _, in := range n.Input {
			if in == "maps" || in == "y" && n.OpType != "Reshape" {
				t.Errorf("node %q (%s) reads %q", n.Name, n.OpType, in)
			}
		}
	}
}
