package engine_test

import (
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/onnxpb"
)

// seedModels are small graphs that reach every family of operators.
func seedModels(t testing.TB) [][]byte {
	var out [][]byte
	add := func(opset int64, nodes func(b *onnxpb.Builder)) {
		out = append(out, graphtest.Bytes(t, graphtest.Model(opset, nodes)))
	}
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddInit("b", []int{2}, 1, 2)
		b.AddNode("Gemm", graphtest.In("x", "w", "b"), "h", onnxpb.Int("transB", 1))
		b.AddNode("Relu", graphtest.In("h"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddNode("Shape", graphtest.In("x"), "s")
		b.AddInts("i", 0)
		b.AddInts("k", 1, -1)
		b.AddNode("Gather", graphtest.In("s", "i"), "n")
		b.AddNode("Concat", graphtest.In("n", "k"), "t", onnxpb.Int("axis", 0))
		b.AddNode("Reshape", graphtest.In("x", "t"), "r")
		b.AddNode("Transpose", graphtest.In("r"), "p", onnxpb.Ints("perm", 1, 0, 2))
		b.AddNode("ReduceMean", graphtest.In("p"), "y", onnxpb.Ints("axes", 2))
	})
	add(11, func(b *onnxpb.Builder) {
		b.AddInts("from", 1)
		b.AddInts("to", 3)
		b.AddInts("axes", 1)
		b.AddNode("Slice", graphtest.In("x", "from", "to", "axes"), "a")
		b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("p", "q"), onnxpb.Int("axis", 1), onnxpb.Ints("split", 1, 2))
		b.AddNode("Concat", graphtest.In("a", "p", "q"), "c", onnxpb.Int("axis", 1))
		b.AddNode("Softmax", graphtest.In("c"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{3, 1, 1}, 1, 2, 3)
		b.AddInts("axes", 2)
		b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
		b.AddNode("Conv", graphtest.In("u", "w"), "c", onnxpb.Int("group", 3))
		b.AddNode("Einsum", graphtest.In("c", "x"), "y", onnxpb.Text("equation", "nfi,nf->nf"))
	})
	add(15, func(b *onnxpb.Builder) {
		b.AddInts("shape", 3)
		b.AddNode("ConstantOfShape", graphtest.In("shape"), "c", onnxpb.TensorAttr("value", graphtest.TFloat, []int{1}, 0.5))
		b.AddNode("Greater", graphtest.In("x", "c"), "g")
		b.AddNode("Where", graphtest.In("g", "x", "c"), "v")
		b.AddNode("Cast", graphtest.In("v"), "k", onnxpb.Int("to", 7))
		b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
		b.AddInit("e", []int{3, 2}, 1, 2, 3, 4, 5, 6)
		b.AddNode("Gather", graphtest.In("e", "k"), "em")
		b.AddNode("ReduceSum", graphtest.In("em", "two"), "s", onnxpb.Int("keepdims", 0))
		b.AddInts("two", 2)
		b.AddNode("Pow", graphtest.In("s", "f"), "y")
	})
	return append(out, seedTexts(t)...)
}

// seedTexts are graphs with text, encoders and models of ai.onnx.ml.
func seedTexts(t testing.TB) [][]byte {
	var out [][]byte
	strings := func(name string, v ...string) onnxpb.Attr {
		return func() (*onnxpb.AttributeProto, error) {
			a := &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_STRINGS}
			for _, s := range v {
				a.Strings = append(a.Strings, []byte(s))
			}
			return a, nil
		}
	}
	add := func(nodes func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr))) {
		b := onnxpb.NewBuilder(20)
		b.Import("ai.onnx.ml", 2)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		b.AddInput("s", onnxpb.TensorProto_STRING, onnxpb.Rows, 1)
		nodes(b, func(op, from, to string, attrs ...onnxpb.Attr) {
			b.AddNodes("ai.onnx.ml", op, graphtest.In(from), graphtest.In(to), attrs...)
		})
		b.Model().Graph.Output = append(b.Model().Graph.Output, &onnxpb.ValueInfoProto{Name: "y"}, &onnxpb.ValueInfoProto{Name: "z"})
		out = append(out, graphtest.Bytes(t, b))
	}
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("Imputer", "x", "i", onnxpb.Floats("imputed_value_floats", 1, 2), onnxpb.Float("replaced_value_float", math.NaN()))
		ml("OneHotEncoder", "s", "h", strings("cats_strings", "a", "b"))
		b.AddNode("Flatten", graphtest.In("h"), "d")
		b.AddNode("Concat", graphtest.In("i", "d"), "c", onnxpb.Int("axis", 1))
		b.AddNodes("ai.onnx.ml", "LinearClassifier", graphtest.In("c"), graphtest.In("z", "p"), onnxpb.Floats("coefficients", 1, 2, 3, 4), onnxpb.Floats("intercepts", 1), strings("classlabels_strings", "n", "p"), onnxpb.Text("post_transform", "LOGISTIC"))
		ml("Normalizer", "p", "q", onnxpb.Text("norm", "L1"))
		ml("ZipMap", "q", "y", strings("classlabels_strings", "n", "p"))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		b.AddNodes("ai.onnx.ml", "SVMClassifier", graphtest.In("x"), graphtest.In("z", "y"), onnxpb.Floats("coefficients", 1, -1), onnxpb.Floats("support_vectors", 1, 2, 3, 4), onnxpb.Ints("vectors_per_class", 1, 1),
			onnxpb.Floats("rho", 0.5), onnxpb.Ints("classlabels_ints", 4, 5), onnxpb.Text("kernel_type", "RBF"), onnxpb.Floats("kernel_params", 0.5, 0, 3), onnxpb.Floats("prob_a", -1), onnxpb.Floats("prob_b", 0))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("LabelEncoder", "s", "t", strings("keys_strings", "a", ""), strings("values_strings", "b", "c"))
		b.AddNode("StringConcat", graphtest.In("t", "s"), "u")
		b.AddNode("StringNormalizer", graphtest.In("u"), "n", onnxpb.Text("case_change_action", "UPPER"))
		b.AddNode("RegexFullMatch", graphtest.In("n"), "r", onnxpb.Text("pattern", "[A-C]+"))
		b.AddNode("Where", graphtest.In("r", "n", "s"), "w")
		b.AddNode("Concat", graphtest.In("w", "s"), "c", onnxpb.Int("axis", 1))
		b.AddNode("TfIdfVectorizer", graphtest.In("c"), "y", onnxpb.Text("mode", "TF"), onnxpb.Int("max_gram_length", 2), onnxpb.Ints("ngram_counts", 0, 1), onnxpb.Ints("ngram_indexes", 0, 1), strings("pool_strings", "C", "C", ""))
		b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 8))
		b.AddNode("Cast", graphtest.In("k"), "z", onnxpb.Int("to", 1))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("Binarizer", "x", "i")
		ml("LinearRegressor", "i", "y", onnxpb.Floats("coefficients", 1, 2), onnxpb.Floats("intercepts", 1))
		ml("SVMRegressor", "x", "z", onnxpb.Floats("coefficients", 1, -1), onnxpb.Floats("support_vectors", 1, 2, 3, 4), onnxpb.Int("n_supports", 2), onnxpb.Floats("rho", 0.5), onnxpb.Text("kernel_type", "POLY"), onnxpb.Floats("kernel_params", 0.5, 0, 3))
	})
	return out
}

// FuzzLoad: whatever the bytes, loading and running ends soon, in an error or in
// numbers, within the bounds it is given; and a graph that was accepted keeps
// rows apart: a row alone gives the same bits as among others.
func FuzzLoad(f *testing.F) {
	for _, b := range seedModels(f) {
		f.Add(b)
	}
	for _, name := range []string{"nam_slice_13", "attention_15", "expand_11", "nam_einsum_17", "where_13", "cast_13", "conv2d_13", "onehot_13", "reduce_11"} {
		b, err := os.ReadFile(graphtest.GoldenFile("torch", name+".onnx"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := graph.Read(b, graph.Limits{MaxMemory: 1 << 20, MaxElements: 5000, MaxWork: 1e7}, operator.New[float64]())
		if err != nil {
			return
		}
		if len(g.Outputs) > 20 || len(g.Inputs) > 100 {
			return
		}
		var want []*graph.Value
		for _, v := range g.Outputs {
			if v.BatchAxis() >= 0 && v.Type != graph.String {
				want = append(want, v)
			}
		}
		for _, precision := range []engine.Precision{engine.Double, engine.Single} {
			r, err := engine.New(g, want, engine.Options{Precision: precision, MaxMemory: 16 << 20})
			if err != nil {
				return
			}
			const rows = 3
			var in, dst [][]float64
			for _, v := range g.Inputs {
				x := make([]float64, rows*v.Width())
				for i := range x {
					if x[i] = math.Sin(float64(i + 1)); !v.Type.Floating() {
						x[i] = float64(i % 2)
					}
				}
				in = append(in, x)
			}
			for _, v := range want {
				dst = append(dst, make([]float64, rows*v.Width()))
			}
			if err := r.Run(dst, in, rows); err != nil {
				return
			}
			for i := range rows {
				var in1, dst1 [][]float64
				for k, v := range g.Inputs {
					in1 = append(in1, in[k][i*v.Width():(i+1)*v.Width()])
				}
				for _, v := range want {
					dst1 = append(dst1, make([]float64, v.Width()))
				}
				if err := r.Run(dst1, in1, 1); err != nil {
					t.Fatalf("row %d fails alone: %v", i, err)
				}
				for k, v := range want {
					for j, y := range dst1[k] {
						if z := dst[k][i*v.Width()+j]; z != y && !(math.IsNaN(z) && math.IsNaN(y)) {
							t.Fatalf("%q: row %d is %v alone, %v among %d rows", v.Name, i, y, z, rows)
						}
					}
				}
			}
		}
	})
}
