package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// pictured are a network with a line in age beside rectified sums over pictures of 1 x 2 x 2, and rows: the first pixel goes with
// age, the second is bright where nothing in the table says so. joint: both enter a layer together.
func pictured(t *testing.T, joint bool) (place func(string) string, args []string) {
	t.Helper()
	temp := t.TempDir()
	place = func(name string) string { return filepath.Join(temp, name) }
	b := onnxpb.NewBuilder(13)
	b.AddInput("img", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1, 2, 2)
	b.AddInput("age", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Flatten", []string{"img"}, "flat")
	read := "flat"
	weights := []float64{1, 0, 0.1, 0, 1, 0.1, 0, 0, 0.2, 0, 0, 0.1}
	if joint {
		b.AddNode("Concat", []string{"flat", "age"}, "both", onnxpb.Int("axis", 1))
		read, weights = "both", append(weights, 0.01, 0, 0)
	}
	b.AddInit("w", []int{len(weights) / 3, 3}, weights...)
	b.AddNode("MatMul", []string{read, "w"}, "z")
	b.AddNode("Relu", []string{"z"}, "u")
	b.AddInit("gamma", []int{3, 1}, 2, 1, 0.5)
	b.AddNode("MatMul", []string{"u", "gamma"}, "deep")
	b.AddInit("beta", []int{1, 1}, 0.01)
	b.AddNode("MatMul", []string{"age", "beta"}, "line")
	b.AddNode("Add", []string{"deep", "line"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, place("net.onnx"), string(raw))
	r := rand.New(rand.NewPCG(7, 7))
	var img []float64
	var table strings.Builder
	table.WriteString("age,bmi\n")
	for range 400 {
		age := 20 + 60*r.Float64()
		fmt.Fprintf(&table, "%.4f,%.4f\n", age, 20+10*r.Float64())
		img = append(img, age/40+0.1*r.NormFloat64(), r.Float64(), r.Float64(), r.Float64())
	}
	write(t, place("rows.csv"), table.String())
	writeArray(t, place("img.npy"), "(400, 1, 2, 2)", img)
	return place, []string{"decompose", "--model", place("net.onnx"), "--data", place("rows.csv"), "--input", "img=@" + place("img.npy"), "--formula", "~ s(age) + bmi"}
}

func artifactOf(t *testing.T, dir string) (r decompose.Result) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Without any flag a reader is told what the picture tells beyond the table, and the remainder of a row is the picture's.
func TestPictureBeyondTable(t *testing.T) {
	place, args := pictured(t, false)
	o := done(t, append(args, "--out", place("result"))...)
	p := artifactOf(t, place("result")).Predictors[0]
	left, told := p.Variance.Unstructured/p.Variance.Total, 1-p.Variance.Unstructured/p.VarianceBefore.Unstructured
	if told < 0.7 || told > 0.9 {
		t.Errorf("the table tells %.3f of the picture", told)
	}
	want := fmt.Sprintf("Beyond the table, the picture img tells %.0f %% of what makes predictions differ. Of what the network took from the picture, %.0f %% can be told from the table as well, and has moved to its columns.", 100*left, 100*told)
	summary := strings.Join(strings.Fields(done(t, "summary", place("result")).out), " ")
	page := strings.ReplaceAll(read(t, place("result"), resultdir.Report), "\u00a0", " ")
	for name, text := range map[string]string{"decompose": o.err, "summary": summary, "report": page} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%.2000s", name, want, text)
		}
	}
	rows := []string{"explain", place("result"), "--data", place("rows.csv"), "--input", "img=@" + place("img.npy"), "--row", "5"}
	if text := done(t, rows...).out; !strings.Contains(text, "img, beyond the table") || strings.Contains(text, "unstructured") {
		t.Errorf("explained:\n%s", text)
	}
	if !strings.Contains(page, `<tr data-part="unstructured"`) || !strings.Contains(page, "img, beyond the table") {
		t.Error("the report's rows do not say whose the remainder is")
	}
	if header, _ := table(t, place("result"), resultdir.Contributions); !slices.Contains(header, "unstructured") {
		t.Errorf("contributions are named %q", header)
	}
	write(t, place("labels.json"), `{"columns": {"img": {"name": "X-ray"}, "age": {"name": "Age"}}}`)
	done(t, append(args, "--labels", place("labels.json"), "--learned", "img", "--out", place("labelled"))...)
	for _, text := range []string{done(t, append(rows[:1:1], append([]string{place("labelled")}, rows[2:]...)...)...).out, done(t, "summary", place("labelled")).out} {
		if !strings.Contains(text, "X-ray") || strings.Contains(text, "img") {
			t.Errorf("labels are not in\n%s", text)
		}
	}

	place, args = pictured(t, true)
	done(t, append(args, "--learned", "img", "--out", place("result"))...)
	summary = strings.Join(strings.Fields(done(t, "summary", place("result")).out), " ")
	for _, want := range []string{"is of the picture img together with age, which the network's deep part reads as well: how much the picture alone would tell is not known", "What the table tells of the picture img, with age:"} {
		if !strings.Contains(summary, want) {
			t.Errorf("summary does not say %q:\n%s", want, summary)
		}
	}
	rows[1], rows[3], rows[5] = place("result"), place("rows.csv"), "img=@"+place("img.npy")
	if text := done(t, rows...).out; !strings.Contains(text, "img with age") {
		t.Errorf("explained:\n%s", text)
	}
}

// --learned by the picture's column says which functions of its features the table tells: here the first, which goes with age.
func TestLearnedPicture(t *testing.T) {
	place, args := pictured(t, false)
	done(t, append(args, "--out", place("plain"))...)
	args = append(args, "--learned", "img")
	o := done(t, append(args, "--out", place("result"))...)
	r := artifactOf(t, place("result"))
	f := r.DeepFeatures[0]
	if fmt.Sprint(f.Columns, f.Width, f.Rank) != "[img] 3 3" || len(f.Functions) != 1 {
		t.Fatalf("%+v", f)
	}
	// The first feature is age/40 + noise: R2 is 0.1875/(0.1875 + 0.01).
	if g := f.Functions[0]; math.Abs(g.R2-0.949) > 0.02 || g.With[0].Columns[0] != "age" || g.With[0].Share < 0.98 || math.Abs(f.Explained-g.Share) > 0.03 {
		t.Errorf("%+v", f)
	}
	if read(t, place("plain"), resultdir.Contributions) != read(t, place("result"), resultdir.Contributions) {
		t.Error("other contributions")
	}
	page := strings.ReplaceAll(read(t, place("result"), resultdir.Report), "\u00a0", " ")
	for name, text := range map[string]string{"decompose": o.err, "summary": done(t, "summary", place("result")).out, "report": page} {
		if !strings.Contains(text, "What the table tells of the picture img") || !strings.Contains(text, "age 9") && !strings.Contains(text, "age 100") {
			t.Errorf("%s does not say what the table tells:\n%.2000s", name, text)
		}
	}
	var doc struct {
		DeepFeatures []decompose.DeepFeatures `json:"deep_features"`
	}
	if err := json.Unmarshal([]byte(done(t, "summary", place("result"), "--json").out), &doc); err != nil || len(doc.DeepFeatures) != 1 {
		t.Errorf("summary --json: %v, %+v", err, doc)
	}
	done(t, append(args, "--workers", "3", "--batch-size", "17", "--out", place("again"))...)
	if read(t, place("again"), resultdir.Decomposition) != read(t, place("result"), resultdir.Decomposition) {
		t.Error("workers change the result")
	}
	bad := call(t, append(args, "--deep", "img", "--out", place("bad"))...)
	if bad.status != exitFailed || !strings.Contains(bad.err, `--learned "img" and --deep "img" name the same part of the network`) {
		t.Errorf("learned and deep: status %d, %s", bad.status, bad.err)
	}
	second := place("second.onnx")
	write(t, second, read(t, place("net.onnx")))
	if bad := call(t, append(args, "--model", second, "--out", place("bad"))...); bad.status != exitFailed || !strings.Contains(bad.err, "--learned: the features that networks make of an array are each network's own") {
		t.Errorf("two networks: status %d, %s", bad.status, bad.err)
	}
	if _, err := os.Stat(place("bad")); err == nil {
		t.Error("a result of what was refused")
	}
}

// A plan of shards compares features, too, to the same bytes.
func TestLearnedArrayByShards(t *testing.T) {
	h := shards{temp: t.TempDir(), n: 2, random: rand.New(rand.NewPCG(1, 1))}
	b := onnxpb.NewBuilder(13)
	b.AddInput("nested", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 3)
	b.AddInput("number", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Flatten", []string{"nested"}, "flat")
	b.AddInit("w", []int{6, 2}, 0.01, -0.01, 0.02, 0.005, 0.03, -0.02, 0.01, 0.04, 0.02, 0.03, -0.03, 0.01)
	b.AddNode("MatMul", []string{"flat", "w"}, "z")
	b.AddNode("Tanh", []string{"z"}, "u")
	b.AddInit("gamma", []int{2, 1}, 1, 2)
	b.AddNode("MatMul", []string{"u", "gamma"}, "deep")
	b.AddNode("Add", []string{"deep", "number"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.place("net.onnx"), string(raw))
	args := []string{"--model", h.place("net.onnx"), "--data", filepath.Join("..", "..", "data", "files", "testdata", "golden", "lists_duckdb.parquet"), "--formula", "~ number", "--learned", "nested"}
	done(t, append([]string{"decompose", "--out", h.place("whole")}, args...)...)
	done(t, append([]string{"plan", "--out", h.place("plan"), "--shards", fmt.Sprint(h.n)}, args...)...)
	h.run(t)
	equalResults(t, h.place("result"), h.place("whole"))
	if r := artifactOf(t, h.place("result")); len(r.DeepFeatures) != 1 || r.DeepFeatures[0].Width != 2 {
		t.Errorf("%+v", r.DeepFeatures)
	}
}
