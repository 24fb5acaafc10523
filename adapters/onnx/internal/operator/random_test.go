package operator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// growGraph adds random nodes to a graph, keeping those that are accepted, and
// returns the model with all accepted values as outputs.
func growGraph(rng *rand.Rand, tries int) *onnxpb.ModelProto {
	opset := int64(7 + rng.IntN(15))
	b := onnxpb.NewBuilder(opset)
	b.Import("ai.onnx.ml", 1+int64(rng.IntN(4)))
	b.Import("pho", 1)
	b.Import("com.microsoft", 1)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3)
	b.AddInput("k", graphtest.TInt64, onnxpb.Rows)
	b.AddInput("z", graphtest.TFloat, 2, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 2}, 1, -2, 3, 0.5, -0.25, 2)
	b.AddInit("v", []int{3}, 0.5, 2, -1)
	b.AddInit("c", []int{2, 3, 1}, 1, 2, 3, -1, -2, -3)
	b.AddInit("s", []int{}, 0.75)
	b.AddInit("g", []int{3, 1, 1}, 0.5, -2, 1)
	for i, v := range [][]int64{{0}, {1}, {2}, {-1}, {-1, 3}, {0, -1}, {1, 1}, {3, -1, 1}, {0, 0, 1, 1}, {3}, {-1, 1}, {0, 0, -1}} {
		b.AddInts(fmt.Sprintf("i%d", i), v...)
	}
	m := b.Model()
	var names []string
	for _, p := range m.Graph.Initializer {
		names = append(names, p.Name)
	}
	// Values computed from rows; nodes prefer these as their first input.
	live := []string{"x", "x", "k", "z"}
	table := operator.New[float64]()
	ops := table.Keys()
	small := func() int64 { return int64(rng.IntN(6)) - 2 }
	attrs := []func() *onnxpb.AttributeProto{
		func() *onnxpb.AttributeProto { return &onnxpb.AttributeProto{Name: "axis", I: small()} },
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: "axes", Ints: []int64{small(), small()}[:1+rng.IntN(2)]}
		},
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: "perm", Ints: [][]int64{{1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {0}}[rng.IntN(5)]}
		},
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: "keepdims", I: int64(rng.IntN(2))}
		},
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: "to", I: []int64{1, 6, 7, 8, 9, 11}[rng.IntN(6)]}
		},
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: []string{"transA", "transB", "group", "noop_with_empty_axes", "allowzero", "start", "end"}[rng.IntN(7)], I: int64(rng.IntN(3))}
		},
		func() *onnxpb.AttributeProto {
			eq := []string{"ni,ij->nj", "fni,fio->fno", "fni->nf", "ni,nj->nij", "ni->n", "fni,ni->nf", "ni,i->in", "n,ni->ni"}
			return &onnxpb.AttributeProto{Name: "equation", S: []byte(eq[rng.IntN(len(eq))])}
		},
		func() *onnxpb.AttributeProto {
			return &onnxpb.AttributeProto{Name: []string{"starts", "ends", "split", "pads", "offset", "scale"}[rng.IntN(6)], Ints: []int64{small(), small(), 0, 1}[:1+rng.IntN(4)], Floats: []float32{2}}
		},
	}
	for i := range tries {
		op := ops[rng.IntN(len(ops))]
		n := &onnxpb.NodeProto{Name: fmt.Sprintf("n%d", i), OpType: op, Output: []string{fmt.Sprintf("t%d", i)}}
		if at := strings.LastIndex(op, "."); at > 0 {
			n.Domain, n.OpType = op[:at], op[at+1:]
		}
		n.Attribute = append(n.Attribute, learned(n.OpType, rng)...)
		o := table[op]
		for i := range o.Min + rng.IntN(max(o.Max-o.Min, 1)+1) {
			pool := live
			if i > 0 && rng.IntN(3) > 0 {
				pool = names
			}
			n.Input = append(n.Input, pool[rng.IntN(len(pool))])
		}
		for _, pick := range rng.Perm(len(attrs))[:rng.IntN(5)] {
			n.Attribute = append(n.Attribute, attrs[pick]())
		}
		if op == "Split" && rng.IntN(2) == 0 {
			n.Output = append(n.Output, fmt.Sprintf("u%d", i))
		}
		m.Graph.Node = append(m.Graph.Node, n)
		outputs := m.Graph.Output
		m.Graph.Output = []*onnxpb.ValueInfoProto{{Name: n.Output[0]}}
		file, _ := proto.Marshal(m)
		g, err := graph.Read(file, graph.Limits{MaxMemory: 1 << 16, MaxWork: 1e7}, operator.New[float64]())
		if m.Graph.Output = outputs; err != nil {
			m.Graph.Node = m.Graph.Node[:len(m.Graph.Node)-1]
			continue
		}
		m.Graph.Output = append(m.Graph.Output, &onnxpb.ValueInfoProto{Name: n.Output[0]})
		if g.Outputs[0].BatchAxis() >= 0 {
			live = append(live, n.Output...)
		} else {
			names = append(names, n.Output...)
		}
	}
	return m
}

// learned are attributes without which operators of ai.onnx.ml are never accepted.
func learned(op string, rng *rand.Rand) []*onnxpb.AttributeProto {
	ints := func(name string, v ...int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: name, Ints: v}
	}
	floats := func(name string, v ...float32) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: name, Floats: v}
	}
	texts := func(name string, v ...string) *onnxpb.AttributeProto {
		a := &onnxpb.AttributeProto{Name: name}
		for _, s := range v {
			a.Strings = append(a.Strings, []byte(s))
		}
		return a
	}
	text := func(name, v string) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: name, S: []byte(v)}
	}
	post := text("post_transform", []string{"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"}[rng.IntN(5)])
	either := func(a, b *onnxpb.AttributeProto) *onnxpb.AttributeProto {
		if rng.IntN(2) == 0 {
			return a
		}
		return b
	}
	switch op {
	case "LabelEncoder":
		return []*onnxpb.AttributeProto{texts("classes_strings", "0", "1", "a"),
			either(either(texts("keys_strings", "0", "1"), ints("keys_int64s", 0, 1)), floats("keys_floats", 0.5, float32(math.NaN()))),
			either(either(texts("values_strings", "a", "1"), ints("values_int64s", 7, 1)), floats("values_floats", 2, 3))}
	case "CategoryMapper":
		return []*onnxpb.AttributeProto{texts("cats_strings", "0", "1"), ints("cats_int64s", 1, 0)}
	case "OneHotEncoder":
		return []*onnxpb.AttributeProto{either(texts("cats_strings", "0", "1", "a"), ints("cats_int64s", 0, 1))}
	case "LinearRegressor":
		return []*onnxpb.AttributeProto{floats("coefficients", 1, -2, 0.5), floats("intercepts", 0.25), either(post, text("post_transform", "NONE"))}
	case "LinearClassifier":
		if rng.IntN(2) == 0 {
			return []*onnxpb.AttributeProto{floats("coefficients", 1, -2, 0.5), floats("intercepts", 0.25), ints("classlabels_ints", 3, 4), post}
		}
		return []*onnxpb.AttributeProto{floats("coefficients", 1, -2, 0.5, 0, 1, 2), floats("intercepts", 0.25, 0), texts("classlabels_strings", "a", "b"), post}
	case "SVMRegressor", "SVMClassifier":
		return []*onnxpb.AttributeProto{floats("coefficients", 1, -1), floats("support_vectors", 1, 0, 1, -1, 2, 0), floats("rho", 0.5), floats("kernel_params", 0.5, 1, 2),
			text("kernel_type", []string{"LINEAR", "POLY", "RBF", "SIGMOID"}[rng.IntN(4)]), {Name: "n_supports", I: 2}, ints("vectors_per_class", 1, 1), ints("classlabels_ints", 3, 4),
			either(floats("prob_a", -1), floats("x")), either(floats("prob_b", 0.5), floats("y"))}
	case "Imputer":
		return []*onnxpb.AttributeProto{floats("imputed_value_floats", 1), ints("imputed_value_int64s", 1)}
	case "Normalizer":
		return []*onnxpb.AttributeProto{text("norm", []string{"MAX", "L1", "L2"}[rng.IntN(3)])}
	case "ZipMap":
		return []*onnxpb.AttributeProto{ints("classlabels_int64s", 1, 2, 3)}
	case "TfIdfVectorizer":
		return []*onnxpb.AttributeProto{text("mode", []string{"TF", "IDF", "TFIDF"}[rng.IntN(3)]), {Name: "max_gram_length", I: 2}, {Name: "max_skip_count", I: int64(rng.IntN(3))},
			ints("ngram_counts", 0, 2), ints("ngram_indexes", 0, 1, 2), either(ints("pool_int64s", 0, 1, 0, 1), texts("pool_strings", "0", "1", "0", "1"))}
	case "Kernel":
		return []*onnxpb.AttributeProto{text("type", "RBF"), {Name: "gamma", F: 0.5}}
	case "Votes", "Coupling":
		return []*onnxpb.AttributeProto{{Name: "classes", I: 3}}
	}
	return nil
}

// Whatever graph is accepted runs without a panic, and keeps rows apart bit for
// bit. PHO_RANDOM_GRAPHS sets how many are tried.
func TestRandomGraphs(t *testing.T) {
	graphs := 150
	if n, err := strconv.Atoi(os.Getenv("PHO_RANDOM_GRAPHS")); err == nil {
		graphs = n
	}
	ran, used := 0, map[string]int{}
	for seed := range graphs {
		m := growGraph(rand.New(rand.NewPCG(uint64(seed), 7)), 80)
		file, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		g, err := graph.Read(file, graph.Limits{MaxMemory: 1 << 24, MaxWork: 1e9}, operator.New[float64]())
		if err != nil {
			continue // all outputs together may exceed a bound
		}
		var want []*graph.Value
		for _, v := range g.Outputs {
			if v.BatchAxis() >= 0 && v.Type != graph.String {
				want = append(want, v)
			}
		}
		for _, n := range g.Nodes {
			used[n.Op]++
		}
		if keepsRowsApart(t, g, want, seed) {
			ran++
		}
	}
	if graphs >= 150 && (ran < graphs/2 || len(used) < 40) {
		t.Errorf("only %d of %d graphs ran, with %d operators", ran, graphs, len(used))
	}
}

func keepsRowsApart(t *testing.T, g *graph.Graph, want []*graph.Value, seed int) bool {
	t.Helper()
	const rows = 4
	var inputs [][]float64
	for _, v := range g.Inputs {
		x := make([]float64, rows*v.Width())
		for i := range x {
			if x[i] = math.Sin(float64(i*7 + seed)); !v.Type.Floating() {
				x[i] = float64((i + seed) % 2)
			}
		}
		inputs = append(inputs, x)
	}
	evaluate := func(want []*graph.Value, from, to int) ([][]float64, bool) {
		r, err := engine.New(g, want, engine.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var in, dst [][]float64
		for k, v := range g.Inputs {
			in = append(in, inputs[k][from*v.Width():to*v.Width()])
		}
		for _, v := range want {
			dst = append(dst, make([]float64, (to-from)*v.Width()))
		}
		return dst, r.Run(dst, in, to-from) == nil
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
	}
	all, ok := evaluate(want, 0, rows)
	if !ok {
		return false // an index out of range, say
	}
	for i := range rows {
		one, ok := evaluate(want, i, i+1)
		if !ok {
			t.Fatalf("seed %d: row %d fails alone", seed, i)
		}
		for k, v := range want {
			if w := v.Width(); !same(one[k], all[k][i*w:(i+1)*w]) {
				t.Fatalf("seed %d: %s: row %d is %v alone, %v among others", seed, v.Producer.String(), i, one[k], all[k][i*w:(i+1)*w])
			}
		}
	}
	// Memory shared by liveness changes nothing: tensors alone and together.
	for k, v := range want {
		if alone, ok := evaluate([]*graph.Value{v}, 0, rows); !ok || !same(alone[0], all[k]) {
			t.Fatalf("seed %d: tensor %q alone is %v, among all %v", seed, v.Name, alone, all[k])
		}
	}
	return true
}
