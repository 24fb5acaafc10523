package ort_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/adapters/onnx/ort"
)

// engine needs ONNX Runtime's library; without one the test is skipped.
func engine(t testing.TB, o ort.Options) *ort.Engine {
	t.Helper()
	e, err := ort.New(o)
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	return e
}

// network is a file of testdata/zoo with rows to ask it about.
type network struct {
	name   string
	graph  *onnx.Graph
	inputs [][]float64
	rows   int
	want   [][]float64 // of every output, as the manifest has them; nil: not numbers
	names  []string
}

// networks are those that an exporter of testdata/zoo wrote and package onnx opens, the
// batch axis first, with numbers for inputs.
func networks(t *testing.T, exporter string) []network {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "testdata", "zoo", "networks", exporter)
	type tensor struct {
		Name, Type string
		Shape      []int
	}
	var manifest struct {
		Networks []struct {
			Name            string
			Axis            int
			Inputs, Outputs []tensor
		}
	}
	read(t, filepath.Join(dir, "manifest.json"), &manifest)
	var all []network
	for _, m := range manifest.Networks {
		g, err := onnx.LoadFile(filepath.Join(dir, m.Name+".onnx"), &onnx.LoadOptions{KeepFile: true})
		if err != nil || m.Axis != 0 {
			continue
		}
		var values struct{ Inputs, Outputs [][]any }
		read(t, filepath.Join(dir, m.Name+".io.json"), &values)
		n := network{name: m.Name, graph: g, rows: m.Inputs[0].Shape[0]}
		ok := true
		for _, in := range g.Inputs() {
			i := slices.IndexFunc(m.Inputs, func(x tensor) bool { return x.Name == in.Name })
			x := numbers(values.Inputs[i])
			ok = ok && x != nil && in.Shape[0] == onnx.Batch
			n.inputs = append(n.inputs, x)
		}
		for i, out := range m.Outputs {
			n.names, n.want = append(n.names, out.Name), append(n.want, numbers(values.Outputs[i]))
		}
		if ok {
			all = append(all, n)
		}
	}
	return all
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// numbers reads a list in which NaN, Inf and -Inf are strings; nil if it holds text.
func numbers(cells []any) []float64 {
	special := map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1)}
	out := []float64{}
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			out = append(out, c)
		case string:
			x, ok := special[c]
			if !ok {
				return nil
			}
			out = append(out, x)
		default:
			return nil
		}
	}
	return out
}

func outputs(g *onnx.Graph) []string {
	var names []string
	for _, o := range g.Outputs() {
		if o.Type != "string" {
			names = append(names, o.Name)
		}
	}
	return names
}

// TestConformance: on networks that other tools wrote, the engine keeps the laws of
// onnx.Engine, at the outputs and at every tensor that a Model of the network asks for.
func TestConformance(t *testing.T) {
	e := engine(t, ort.Options{Rows: 16}) // smaller than the number of rows: blocks and a rest
	tested, refused := 0, map[string]int{}
	for _, exporter := range []string{"torch_dynamo", "torch_legacy", "keras", "sklearn", "jax", "handmade"} {
		for _, n := range networks(t, exporter) {
			if own := outputs(n.graph); len(own) > 0 && n.rows > 1 {
				if why := refusal(t, e, n, own); why != "" {
					refused[why]++
					continue
				}
				t.Run(exporter+"/"+n.name, func(t *testing.T) {
					err := onnxtest.Engine(e, n.graph, own, n.inputs, n.rows, 2e-5)
					if err != nil {
						t.Error(err)
					}
				})
				tested++
			}
		}
	}
	t.Logf("%d networks; refused %v", tested, refused)
	if tested < 200 {
		t.Errorf("only %d networks", tested)
	}
}

// refusal is why the engine refuses a network, in the words that it may use for it; "" if
// it does not. Another reason is a fault.
func refusal(t *testing.T, e onnx.Engine, n network, tensors []string) string {
	t.Helper()
	_, err := e.Prepare(n.graph, tensors)
	if err == nil {
		return ""
	}
	for _, known := range []string{"does not pass on", "is no tensor in the file"} {
		if strings.Contains(err.Error(), known) {
			return known
		}
	}
	t.Errorf("%s: %v", n.name, err)
	return "?"
}

// TestRowAlone: a row has the bits that it has in any company, since every call has the
// same number of rows. A few kernels round by the place that a row has in a call; there
// it is the last digits of float that differ.
func TestRowAlone(t *testing.T) {
	e := engine(t, ort.Options{})
	tested, differ := 0, []string{}
	for _, exporter := range []string{"torch_dynamo", "torch_legacy", "keras", "sklearn"} {
		for _, n := range networks(t, exporter) {
			names := outputs(n.graph)
			if len(names) == 0 {
				continue
			}
			if refusal(t, e, n, names) != "" {
				continue
			}
			p, err := e.Prepare(n.graph, names)
			if err != nil {
				t.Fatal(err)
			}
			tested++
			if worst := apart(t, p, n); worst > 1e-6 {
				t.Errorf("%s: a row alone differs by %g", n.name, worst)
			} else if worst > 0 {
				differ = append(differ, n.name)
			}
		}
	}
	if tested < 100 || len(differ) > tested/20 {
		t.Errorf("%d networks, of which bits differ in %v", tested, differ)
	}
	t.Logf("%d networks; last digits depend on the place in a call in %v", tested, differ)
}

// apart is the largest difference, relative to 1 + the value, between rows alone and
// among the others.
func apart(t *testing.T, p onnx.Evaluator, n network) (worst float64) {
	t.Helper()
	run := func(from, to int) (out [][]float64) {
		var inputs [][]float64
		for i, in := range n.graph.Inputs() {
			inputs = append(inputs, n.inputs[i][from*in.Width():to*in.Width()])
		}
		for _, name := range outputs(n.graph) {
			o, _ := n.graph.Tensor(name)
			out = append(out, make([]float64, (to-from)*o.Width()))
		}
		if err := p.Run(out, inputs, to-from); err != nil {
			t.Fatalf("%s: %v", n.name, err)
		}
		return out
	}
	all := run(0, n.rows)
	for r := range n.rows {
		for k, one := range run(r, r+1) {
			for i, x := range one {
				if y := all[k][r*len(one)+i]; math.Float64bits(x) != math.Float64bits(y) && x == x {
					worst = math.Max(worst, math.Abs(x-y)/(1+math.Abs(y)))
				}
			}
		}
	}
	return worst
}

func TestRefusals(t *testing.T) {
	e := engine(t, ort.Options{})
	file := filepath.Join("..", "..", "..", "testdata", "golden", "torch", "attention_13.onnx")
	without, err := onnx.LoadFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := onnx.LoadFile(file, &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		err  error
	}{
		{"KeepFile", second(e.Prepare(without, outputs(without)))},
		{`no tensor "nope"`, second(e.Prepare(whole, []string{"nope"}))},
		{"negative", second(ort.New(ort.Options{Rows: -1}))},
		{"cannot be loaded", second(ort.New(ort.Options{Library: "another/library.so"}))},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", c.err, c.says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFileUnchanged: asking for a tensor in between leaves the graph's file as it is.
func TestFileUnchanged(t *testing.T) {
	e := engine(t, ort.Options{})
	n := networks(t, "handmade")[0]
	before := bytes.Clone(n.graph.File())
	inner := n.graph.Inputs()[0].Name
	if err := onnxtest.Engine(e, n.graph, append(outputs(n.graph), inner), n.inputs, n.rows, 1e-5); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(before, n.graph.File()) {
		t.Error("the file was changed")
	}
}
