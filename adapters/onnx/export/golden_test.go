package export_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

var update = flag.Bool("update", false, "write testdata/golden/*.onnx and rows.json anew; run ort.py there afterwards")

const goldenRows = 80

// goldenCases are files that ONNX Runtime has run. Together they have every basis, in opsets
// that write some operators otherwise.
var goldenCases = []struct {
	name    string
	opset   int64
	kind    onnxpb.TensorProto_DataType
	outputs []string
	formula string
}{
	{"splines", 7, double, []string{"y"}, `~ s(x2, bs="ps", k=7) + s(x3, bs="cr", k=5) + s(x5, bs="cc", k=6) + s(x1, bs="bs", k=6, m=c(2,1))`},
	{"factors", 9, float, []string{"y"}, `~ g + factor(k) + s(m, bs="re") + factor(m):h + g:h:x4 + factor(h, contr="sum")`},
	{"plates", 12, double, []string{"y"}, `~ s(x1, x2, k=12) + s(x1, x3, x5, k=14) + s(x2, x3, bs="rbf", k=6) + s(x5, m=3, k=6)`},
	{"tensors", 17, double, []string{"y"}, `~ te(x1, x2, k=c(4,5), bs=c("cr","ps")) + ti(x1, x2, x3, k=4) + te(x3, x5, x1, d=c(2,1), k=c(6,4), bs=c("tp","cc"))`},
	{"by", 18, float, []string{"mu", "sigma"}, `~ s(x2, by=g, k=5) + s(x3, by=x5, k=5) + s(x5, h, bs="fs", xt="cr", k=4) + te(x1, g, bs=c("cr","re"), k=c(4,3))`},
	{"newest", 22, double, []string{"y"}, `~ x4 + x5 + x1:x2 + s(x4, by=ordered(h), k=5) + te(x1, x5, by=x2, k=4) + s(g, bs="re")`},
}

type goldenCase struct{ Outputs map[string][]float64 }

// ONNX Runtime, which knows nothing of decompositions, computes the parts of the rows from
// what is written: ort.json, by testdata/golden/ort.py, which has onnx.checker look at the
// files too.
func TestORT(t *testing.T) {
	dir := filepath.Join("testdata", "golden")
	src := rows(t, goldenRows)
	if *update {
		writeRows(t, filepath.Join(dir, "rows.json"))
	}
	var golden map[string]goldenCase
	raw, err := os.ReadFile(filepath.Join(dir, "ort.json"))
	if err == nil {
		var doc struct{ Cases map[string]goldenCase }
		must(t, json.Unmarshal(raw, &doc))
		golden = doc.Cases
	} else if !*update {
		t.Fatal(err)
	}
	for _, c := range goldenCases {
		file := network(t, c.opset, c.kind, c.outputs...)
		m, with, r := decomposed(t, file, src, c.formula, &decompose.Options{})
		now := written(t, file, m, with, r)
		path := filepath.Join(dir, c.name+".onnx")
		if *update {
			must(t, os.WriteFile(path, now, 0o644))
			continue
		}
		before, err := os.ReadFile(path)
		must(t, err)
		if a, b := nodes(t, before), nodes(t, now); !slices.Equal(a, b) {
			t.Errorf("%s: other nodes are written than ONNX Runtime has run: go test ./adapters/onnx/export -run ORT -update, then testdata/golden/ort.py", c.name)
		}
		outputs := golden[c.name].Outputs
		// The rows are decomposed anew: with other kernels than those the file was written with,
		// rounding moves a tensor product by up to 2.3e-9.
		tolerance := 1e-8
		if c.kind == float {
			tolerance = 4e-6 // units of the network are rounded, and some terms cancel
		}
		applier, err := r.Applier(m)
		must(t, err)
		for parts, err := range applier.All(context.Background(), src) {
			must(t, err)
			for k, p := range parts.Predictors {
				sd := math.Sqrt(r.Predictors[k].Variance.Total)
				for _, o := range listed(t, before) {
					if o.Predictor != r.Predictors[k].Name {
						continue
					}
					if len(outputs[o.Name]) == 0 {
						t.Fatalf("%s: ONNX Runtime has no output %s", c.name, o.Name)
					}
					for row, v := range outputs[o.Name] {
						if miss := math.Abs(v-partOf(r, k, p, o, row)) / sd; !(miss <= tolerance) {
							t.Errorf("%s: row %d of %s misses by %.2g standard deviations of eta", c.name, row, o.Name, miss)
							break
						}
					}
				}
			}
		}
	}
}

// nodes are the nodes of a file without the numbers of its constants.
func nodes(t testing.TB, file []byte) (out []string) {
	for _, n := range decode(t, file).Graph.Node {
		out = append(out, fmt.Sprint(n.Name, n.OpType, n.Input, n.Output))
	}
	return out
}

// writeRows writes the columns for ort.py.
func writeRows(t *testing.T, path string) {
	src := rows(t, goldenRows)
	doc := map[string]any{}
	for b, err := range src.Batches(context.Background(), src.Schema().Names()) {
		must(t, err)
		for _, c := range src.Schema() {
			if c.Numeric {
				x, err := b.Numeric(c.Name)
				must(t, err)
				doc[c.Name] = x
				continue
			}
			codes, err := b.Codes(c.Name)
			must(t, err)
			text := make([]string, len(codes.Index))
			for i, code := range codes.Index {
				text[i] = codes.Levels[code]
			}
			doc[c.Name] = text
		}
	}
	text, err := json.Marshal(doc)
	must(t, err)
	must(t, os.WriteFile(path, append(text, '\n'), 0o644))
}
