package command

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// zoo is the path of a network that an exporter wrote.
func zoo(name string) string {
	return filepath.Join("..", "..", "testdata", "zoo", "networks", name+".onnx")
}

// edited writes a copy of a network that edit has changed.
func edited(t *testing.T, from, to string, edit func(m *onnxpb.ModelProto)) {
	t.Helper()
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal([]byte(read(t, from)), m); err != nil {
		t.Fatal(err)
	}
	edit(m)
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(raw))
}

// shift adds one vector to the weights of all classes, classes x inputs: noise, and much of
// the first input.
func shift(weights []float32, classes int, size float64) {
	r := rand.New(rand.NewPCG(4, 4))
	n := len(weights) / classes
	for i := range n {
		v := float32(0.01 * size * r.NormFloat64())
		if i == 0 {
			v = float32(size)
		}
		for k := range classes {
			weights[k*n+i] += v
		}
	}
}

// classRowsCSV has columns x[0] to x[3], a class by its name and by its number, weights.
func classRowsCSV(names []string, n int) string {
	r := rand.New(rand.NewPCG(7, 7))
	var text strings.Builder
	text.WriteString("a,b,c,d,class,number,w\n")
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		k := r.IntN(len(names))
		fmt.Fprintf(&text, "%.5f,%.5f,%.5f,%.5f,%s,%d,%d\n", a, b, 0.5*a+r.NormFloat64(), r.Float64(), names[k], k, i%3)
	}
	return text.String()
}

// shares are the structured share of the variance of each predictor, and all sp.
func shares(t *testing.T, dir string) (names []string, structured, sp []float64) {
	t.Helper()
	for _, p := range document(t, dir)["predictors"].([]any) {
		p := p.(map[string]any)
		v := p["variance"].(map[string]any)
		names = append(names, p["name"].(string))
		structured = append(structured, v["structured"].(float64)/v["total"].(float64))
		for _, term := range p["terms"].([]any) {
			for _, l := range term.(map[string]any)["sp"].([]any) {
				sp = append(sp, l.(float64))
			}
		}
	}
	return names, structured, sp
}

// TestCommonVectorInTheLastLayer: a vector that is added to the weights of every class, in
// the last layer of a network from PyTorch and in a classifier from scikit-learn, changes no
// probability and now nothing of what is found. Of the logits themselves, which --predictor
// names, it changes nearly everything.
func TestCommonVectorInTheLastLayer(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, classRowsCSV([]string{"high", "low", "middle"}, 300))
	torch, shifted := filepath.Join(dir, "torch.onnx"), filepath.Join(dir, "shifted.onnx")
	write(t, torch, read(t, zoo("torch_dynamo/head_softmax")))
	edited(t, torch, shifted, func(m *onnxpb.ModelProto) {
		for _, p := range m.Graph.Initializer {
			if p.Name != "body.4.weight" {
				continue
			}
			w := make([]float32, len(p.RawData)/4)
			for i := range w {
				w[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.RawData[4*i:]))
			}
			shift(w, 3, 20)
			for i, v := range w {
				binary.LittleEndian.PutUint32(p.RawData[4*i:], math.Float32bits(v))
			}
		}
	})
	classifier, moved := filepath.Join(dir, "classifier.onnx"), filepath.Join(dir, "moved.onnx")
	write(t, classifier, read(t, zoo("sklearn/logistic_text")))
	edited(t, classifier, moved, func(m *onnxpb.ModelProto) {
		for _, n := range m.Graph.Node {
			for _, a := range n.Attribute {
				if a.Name == "coefficients" {
					shift(a.Floats, 3, 2)
				}
			}
		}
	})
	found := func(model string, further ...string) ([]string, []float64, []float64) {
		out := filepath.Join(t.TempDir(), "result")
		input := "x=a,b,c,d"
		if strings.Contains(model, "classifier") || strings.Contains(model, "moved") {
			input = "X=a,b,c,d"
		}
		done(t, append([]string{"decompose", "--model", model, "--data", rows, "--input", input, "--out", out, "--formula", "~ s(a, k=7)"}, further...)...)
		return shares(t, out)
	}
	for _, c := range [][2]string{{torch, shifted}, {classifier, moved}} {
		for _, further := range [][]string{{"--response", "number"}, {"--method", "pho"}} {
			names, before, spBefore := found(c[0], further...)
			_, after, spAfter := found(c[1], further...)
			for k := range before {
				if math.Abs(before[k]-after[k]) > 1e-4 { // weights are float32
					t.Errorf("%s %q: class %s has a structured share of %.6f, with a common vector %.6f", filepath.Base(c[0]), further, names[k], before[k], after[k])
				}
			}
			for i := range spBefore {
				if math.Abs(math.Log(spBefore[i]/spAfter[i])) > 0.01 && spBefore[i] < 1e4 {
					t.Errorf("%s: sp %g, with a common vector %g", filepath.Base(c[0]), spBefore[i], spAfter[i])
				}
			}
			if c[0] == classifier && strings.Join(names, " ") != "high low middle" {
				t.Errorf("predictors %q", names)
			}
		}
	}
	_, before, _ := found(torch, "--predictor", "linear_2")
	_, after, _ := found(shifted, "--predictor", "linear_2")
	most := 0.0
	for k := range before {
		most = max(most, math.Abs(before[k]-after[k]))
	}
	t.Logf("structured shares of the logits themselves: %.3f, with a common vector %.3f", before, after)
	if most < 0.1 {
		t.Errorf("shares of the logits are %v, with a common vector %v: the case shows nothing", before, after)
	}
}

// TestReferenceClass: the total over the classes and importances do not depend on the
// class that others are compared with; predictors do.
func TestReferenceClass(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, classRowsCSV([]string{"high", "low", "middle"}, 300))
	total, importances := []float64{}, []float64{}
	for i, reference := range []string{"", "low", "middle"} {
		out := filepath.Join(dir, fmt.Sprint("r", i))
		o := done(t, "decompose", "--model", zoo("sklearn/logistic_text"), "--data", rows, "--input", "X=a,b,c,d", "--out", out,
			"--formula", "class ~ s(a, k=7) + s(b, k=7)", "--reference", reference, "--weights", "w", "--export-onnx")
		doc := document(t, out)
		set := doc["predictor_sets"].([]any)[0].(map[string]any)
		v := set["variance"].(map[string]any)
		total = append(total, v["structured"].(float64), v["total"].(float64))
		p := doc["predictors"].([]any)
		first := p[0].(map[string]any)["importance"].([]any)[0].(map[string]any)
		importances = append(importances, first["mcfadden"].(float64))
		if first["mcfadden"] != first["deviance_r2"] && math.Abs(first["mcfadden"].(float64)-first["deviance_r2"].(float64)) > 1e-12 || first["mcfadden_valid"] != true {
			t.Errorf("of classes deviance R2 is McFadden's: %v", first)
		}
		if want := map[string]int{"": 3}[reference] + map[bool]int{true: 2}[reference != ""]; len(p) != want {
			t.Errorf("reference %q: %d predictors", reference, len(p))
		}
		if doc["family"] != "categorical" || !strings.Contains(o.err, "all classes together, centred: the structured part explains") || !strings.Contains(o.err, "the most probable class is right in") {
			t.Errorf("family %v\n%s", doc["family"], o.err)
		}
		header, _ := table(t, out, "contributions.csv")
		if reference == "low" && !strings.Contains(strings.Join(header, " "), "high.s(a)") {
			t.Errorf("contributions %q", header)
		}
		// New rows, and the result read again.
		done(t, "apply", "--decomposition", out, "--data", rows, "--out", filepath.Join(dir, "applied.csv"))
		if read(t, dir, "applied.csv") != read(t, out, "contributions.csv") {
			t.Errorf("reference %q: the rows applied to are not those decomposed", reference)
		}
		before := read(t, out, "report.html")
		done(t, "report", out)
		done(t, "verify", out)
		if read(t, out, "report.html") != before || !strings.Contains(before, "(over all classes, in logarithms)") {
			t.Errorf("reference %q: another report, or one without the classes", reference)
		}
	}
	for i := range 3 {
		if math.Abs(total[2*i]-total[0]) > 1e-9*total[1] || math.Abs(total[2*i+1]-total[1]) > 1e-9*total[1] || math.Abs(importances[i]-importances[0]) > 1e-9 {
			t.Errorf("totals %v and importances %v depend on the reference", total, importances)
		}
	}
	o := call(t, "decompose", "--model", zoo("sklearn/logistic_text"), "--data", rows, "--input", "X=a,b,c,d", "--out", filepath.Join(dir, "bad"), "--reference", "lwo")
	if o.status != exitFailed || !strings.Contains(o.err, `no class "lwo" to be the reference: the classes are ["high" "low" "middle"]`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}
	o = call(t, "decompose", "--model", zoo("sklearn/logistic"), "--data", rows, "--out", filepath.Join(dir, "bad"), "--input", "X=a,b,c,d", "--reference", "low")
	if o.status != exitFailed || !strings.Contains(o.err, "the network has no softmax") {
		t.Errorf("status %d: %s", o.status, o.err)
	}
}

// TestResponseOfClasses: names and numbers of classes say the same; unknown ones are errors
// with their row; a class that no row has, and one class alone, are no errors.
// TestClassesOfDifferentTerms: they are centred all the same, so that none is identified.
func TestClassesOfDifferentTerms(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, classRowsCSV([]string{"high", "low", "middle"}, 300))
	o := done(t, "decompose", "--model", zoo("sklearn/logistic_text"), "--data", rows, "--input", "X=a,b,c,d", "--out", filepath.Join(dir, "out"),
		"--formula", "high = ~ s(a, k=7)", "--formula", "low = ~ s(a, k=7) + s(b, k=7)", "--formula", "middle = ~ s(b, k=7)")
	if !strings.Contains(o.err, "have different terms, so each has smoothing parameters of its own") {
		t.Error(o.err)
	}
	doc := document(t, filepath.Join(dir, "out"))
	for _, p := range doc["predictors"].([]any) {
		d := p.(map[string]any)
		for _, term := range d["terms"].([]any) {
			if v := term.(map[string]any)["verdict"]; d["convention"] != "centred over the classes of every row" || v == "identified" {
				t.Errorf("%v, %v: a term is %v", d["name"], d["convention"], v)
			}
		}
	}
	if doc["predictor_sets"] != nil {
		t.Error("variances of classes together")
	}
}

// A forest's probabilities of three classes are compared with the classes' names as they are.
func TestProbabilitiesOfThreeClasses(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, classRowsCSV([]string{"high", "low", "mid"}, 300))
	run := func(out string, more ...string) []string {
		return append([]string{"decompose", "--model", zoo("classifiers/forest_three"), "--data", rows, "--input", "X=a,b,c", "--formula", "~ a", "--response", "class", "--out", filepath.Join(dir, out)}, more...)
	}
	o := done(t, run("out")...)
	if want := "prediction of class (categorical(link=identity)): "; !strings.Contains(o.out+o.err, want) {
		t.Errorf("%s%s", o.out, o.err)
	}
	doc := document(t, filepath.Join(dir, "out"))
	p := doc["prediction"].(map[string]any)
	if right := p["accuracy"].(float64); !(right > 0 && right < 1) || p["deviance_explained"] == nil {
		t.Error(p)
	}
	if o := call(t, run("no", "--family", "categorical")...); o.status == exitDone || !strings.Contains(o.err, "categorical(link=identity); set --clip") {
		t.Errorf("%d: %s", o.status, o.err)
	}
}

func TestResponseOfClasses(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	text := classRowsCSV([]string{"high", "low", "middle"}, 120)
	write(t, rows, text)
	run := func(data, response string, further ...string) (outcome, string) {
		out := filepath.Join(t.TempDir(), "result")
		return call(t, append([]string{"decompose", "--model", zoo("sklearn/logistic_text"), "--data", data, "--input", "X=a,b,c,d", "--out", out, "--response", response}, further...)...), out
	}
	byName, a := run(rows, "class")
	byNumber, b := run(rows, "number")
	if byName.status != exitDone || byNumber.status != exitDone {
		t.Fatal(byName.err, byNumber.err)
	}
	if x, y := fmt.Sprint(document(t, a)["prediction"]), fmt.Sprint(document(t, b)["prediction"]); x != y || !strings.Contains(x, "accuracy") {
		t.Errorf("predictions %s by name, %s by number", x, y)
	}
	bad := filepath.Join(dir, "bad.csv")
	lines := strings.Split(text, "\n")
	lines[7] = strings.Replace(strings.Replace(strings.Replace(lines[7], "high", "hihg", 1), "low", "hihg", 1), "middle", "hihg", 1)
	write(t, bad, strings.Join(lines, "\n"))
	if o, _ := run(bad, "class"); o.status != exitFailed || !strings.Contains(o.err, `"hihg"`) || !strings.Contains(o.err, "bad.csv") || !strings.Contains(o.err, "row 7") || !strings.Contains(o.err, `["high" "low" "middle"]`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}
	some := func(keep func(class string) bool) string {
		path := filepath.Join(t.TempDir(), "some.csv")
		kept := lines[:1:1]
		for _, l := range strings.Split(text, "\n")[1:] {
			if cells := strings.Split(l, ","); len(cells) > 4 && keep(cells[4]) {
				kept = append(kept, l)
			}
		}
		write(t, path, strings.Join(kept, "\n")+"\n")
		return path
	}
	for _, keep := range []func(string) bool{func(c string) bool { return c != "middle" }, func(c string) bool { return c == "low" }} {
		o, out := run(some(keep), "class", "--formula", "~ a + b")
		if o.status != exitDone {
			t.Errorf("status %d: %s", o.status, o.err)
			continue
		}
		p := document(t, out)["prediction"].(map[string]any)
		if _, explained := p["deviance_explained"]; explained == keep("low") && !keep("high") {
			t.Errorf("one class in all rows: %v", p)
		}
	}
	// The classes of a network that does not name them are called as inspect calls its predictors, and says so of texts.
	o := call(t, "decompose", "--model", zoo("keras/classes"), "--data", rows, "--out", filepath.Join(dir, "keras"), "--input", kerasInput(t)+"=a,b,c,d", "--response", "class")
	if o.status != exitFailed || !strings.Contains(o.err, `is none of the model's classes, which are ["Identity:01" "Identity:02" "Identity:03"]`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}
	done(t, "decompose", "--model", zoo("keras/classes"), "--data", rows, "--out", filepath.Join(dir, "keras"), "--input", kerasInput(t)+"=a,b,c,d", "--response", "number")
}

// kerasInput is the name of the network's input.
func kerasInput(t *testing.T) string {
	t.Helper()
	m := &onnxpb.ModelProto{}
	raw, err := os.ReadFile(zoo("keras/classes"))
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	return m.Graph.Input[0].Name
}

// TestTwoClasses: of a softmax over two classes the predictor is the log odds, of the second
// one or of the one that is not the reference; the family is binomial, and categorical gives
// the same figures.
func TestTwoClasses(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, classRowsCSV([]string{"no", "yes"}, 200))
	two := filepath.Join(dir, "two.onnx")
	model(t, two, 4, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{4, 2}, 1, -1, 0.5, 2, 0.1, 0.2, -3, 1)
		b.AddNode("MatMul", []string{"x", "w"}, "logits")
		b.AddNode("Softmax", []string{"logits"}, "y")
	})
	var figures []string
	for i, further := range [][]string{{}, {"--family", "categorical"}, {"--reference", "1"}} {
		out := filepath.Join(dir, fmt.Sprint("r", i))
		o := done(t, append([]string{"decompose", "--model", two, "--data", rows, "--input", "x=a,b,c,d", "--out", out, "--response", "number", "--formula", "~ a + b"}, further...)...)
		doc := document(t, out)
		p := doc["predictors"].([]any)
		if len(p) != 1 || p[0].(map[string]any)["name"] != "eta" || p[0].(map[string]any)["convention"] != nil || strings.Contains(o.err, "together") {
			t.Errorf("%q: %d predictors\n%s", further, len(p), o.err)
		}
		v := p[0].(map[string]any)["variance"].(map[string]any)
		figures = append(figures, fmt.Sprintf("%.6f", v["structured"].(float64)/v["total"].(float64)))
		importance := p[0].(map[string]any)["importance"].([]any)[0].(map[string]any)
		if want := fmt.Sprintf("%.6f", importance["mcfadden"]); i < 2 {
			figures[i] += " " + want
		}
	}
	if figures[0] != figures[1] || !strings.HasPrefix(figures[0], figures[2]) {
		t.Errorf("shares and importances %q", figures)
	}
}

// TestOrdinalResponse: ordered classes with thresholds that are found for the predictor.
func TestOrdinalResponse(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	r := rand.New(rand.NewPCG(3, 3))
	var text strings.Builder
	text.WriteString("x1,x2,rating,same\n")
	for range 300 {
		a, b := r.NormFloat64(), r.NormFloat64()
		u := r.Float64()
		k := 3
		for _, c := range []float64{-1, 0.5, 2} {
			if a-b+math.Log(u/(1-u)) > c {
				k += 2
			}
		}
		fmt.Fprintf(&text, "%.5f,%.5f,%d,1\n", a, b, k)
	}
	write(t, rows, text.String())
	net := filepath.Join(dir, "net.onnx")
	model(t, net, 2, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 1}, 1, -1)
		b.AddNode("MatMul", []string{"x", "w"}, "y")
	})
	out := filepath.Join(dir, "result")
	o := done(t, "decompose", "--model", net, "--data", rows, "--input", "x=x1,x2", "--out", out, "--response", "rating", "--family", "ordinal")
	first := document(t, out)["predictors"].([]any)[0].(map[string]any)["importance"].([]any)[0].(map[string]any)
	if first["mcfadden_valid"] != true || !(first["mcfadden"].(float64) > 0.05) || !strings.Contains(o.err, "the levels are [3 5 7 9], with thresholds of the predictor at [-") || !strings.Contains(o.err, "the most probable class is right in") {
		t.Errorf("%v\n%s", first, o.err)
	}
	if o := call(t, "decompose", "--model", net, "--data", rows, "--input", "x=x1,x2", "--out", filepath.Join(dir, "bad"), "--response", "same", "--family", "ordinal"); o.status != exitFailed || !strings.Contains(o.err, `response "same": family ordinal: the rows of positive weight have 1 different responses`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}
}

// TestManyClassesAndConstantOnes: 40 classes, of which one has a constant logit and one is
// never predicted; weights of zero; a softmax over one class.
func TestManyClassesAndConstantOnes(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	var names []string
	for k := range 40 {
		names = append(names, fmt.Sprint("k", k))
	}
	write(t, rows, classRowsCSV(names, 400))
	net := func(path string, classes int) {
		r := rand.New(rand.NewPCG(1, 9))
		model(t, path, 4, func(b *onnxpb.Builder) {
			w := make([]float64, 4*classes)
			bias := make([]float64, classes)
			for i := range w {
				if i%classes != 3 {
					w[i] = r.NormFloat64()
				}
			}
			bias[0] = -1000 // never predicted
			b.AddInit("w", []int{4, classes}, w...)
			b.AddInit("bias", []int{classes}, bias...)
			b.AddNode("MatMul", []string{"x", "w"}, "product")
			b.AddNode("Add", []string{"product", "bias"}, "logits")
			b.AddNode("Softmax", []string{"logits"}, "y")
		})
	}
	many, one := filepath.Join(dir, "many.onnx"), filepath.Join(dir, "one.onnx")
	net(many, 40)
	net(one, 1)
	out := filepath.Join(dir, "result")
	done(t, "decompose", "--model", many, "--data", rows, "--input", "x=a,b,c,d", "--out", out, "--response", "number", "--weights", "w", "--formula", "~ s(a, k=5) + s(b, k=5)")
	if p := document(t, out)["predictors"].([]any); len(p) != 40 || p[39].(map[string]any)["name"] != "y40" {
		t.Errorf("%d predictors", len(p))
	}
	o := call(t, "decompose", "--model", one, "--data", rows, "--input", "x=a,b,c,d", "--out", filepath.Join(dir, "bad"), "--formula", "~ a")
	if o.status != exitFailed || !strings.Contains(o.err, "has 1 classes: the probability of one is 1 whatever its predictor is") {
		t.Errorf("status %d: %s", o.status, o.err)
	}
}
