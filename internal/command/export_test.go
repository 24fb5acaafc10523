package command

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// adapted.onnx opens as the network that it was made of: the same contributions and, written
// again, the same file.
func TestExportFixedPoint(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	write(t, place("rows.csv"), rows(400))
	args := []string{"--data", place("rows.csv"), "--formula", "y ~ s(x3, k=6) + g + s(x1, by=g, k=5) + w + ridge(x0, x2)", "--export-onnx"}
	for _, c := range []struct{ model, input string }{{golden("ssn_op13"), "x=x0..x4"}, {golden("two_heads"), "x=x0..x3"}} {
		own := append(args, "--input", c.input)
		done(t, append([]string{"decompose", "--model", c.model, "--out", place("one")}, own...)...)
		adapted := read(t, place("one"), resultdir.Adapted)
		write(t, place("adapted.onnx"), adapted)
		done(t, append([]string{"decompose", "--model", place("adapted.onnx"), "--out", place("two")}, own...)...)
		for _, name := range []string{resultdir.Contributions, resultdir.Effects, resultdir.Adapted} {
			if read(t, place("one"), name) != read(t, place("two"), name) {
				t.Errorf("%s: %s differs", c.model, name)
			}
		}
		if o := done(t, "inspect", place("adapted.onnx")); !strings.Contains(o.out, "are parts of a decomposition that was written into the file (pho.structure) and are passed over") {
			t.Errorf("inspect does not tell the parts:\n%s", o.out)
		}
		done(t, "verify", place("one"))
	}
}

// A network that pho train wrote has a declaration of its own, which stays; its text columns
// are numbers to the file.
func TestExportTrained(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	write(t, place("rows.csv"), rows(300))
	done(t, "train", "--data", place("rows.csv"), "--formula", "y ~ g + s(x1, k=5)", "--deep", "x2,g", "--epochs", "2", "--out", place("trained"))
	model := place("trained/model.onnx")
	for i, from := range []string{model, place("result0/" + resultdir.Adapted)} {
		out := place("result" + string(rune('0'+i)))
		done(t, "decompose", "--model", from, "--data", place("rows.csv"), "--formula", "y ~ s(x2, k=5) + x0 + g:x0", "--export-onnx", "--out", out)
	}
	if read(t, place("result0"), resultdir.Contributions) != read(t, place("result1"), resultdir.Contributions) {
		t.Error("other contributions")
	}
	if read(t, place("result0"), resultdir.Adapted) != read(t, place("result1"), resultdir.Adapted) {
		t.Error("another file")
	}
}

// Nothing is left where the file cannot be written: here a level is not what the network
// reads.
func TestExportRefused(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	network, data, out := filepath.Join(temp, "net.onnx"), filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	model(t, network, 1, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{1, 1}, 2)
		b.AddNode("MatMul", []string{"x", "w"}, "y")
	})
	write(t, data, "a\n1\n1.00000001\n2\n1\n1.00000001\n2\n")
	o := call(t, "decompose", "--model", network, "--data", data, "--input", "x=a", "--formula", "~ factor(a)", "--export-onnx", "--out", out)
	if o.status != exitFailed || !strings.Contains(o.err, "the two cannot be told apart in the file") {
		t.Errorf("status %d\n%s", o.status, o.err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a result is left")
	}
}

// Networks with weights in files beside them, with terms inside an ensemble of trees or
// with a predictor inside a classifier come out whole: alone in another folder, the file
// opens as the network that it was made of.
func TestExportKinds(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	write(t, place("rows.csv"), rows(200))
	for _, c := range []struct{ model, input string }{
		{"torch_dynamo/external_nam", "x"}, {"torch_dynamo/float16", "x"}, {"lightgbm/pairs", "X"}, {"handmade/trees_5", "x"}, {"catboost/stumps", "features"}, {"sklearn/logistic", "X"}, {"handmade/loop", "x"},
	} {
		model := filepath.Join("..", "..", "testdata", "zoo", "networks", filepath.FromSlash(c.model)+".onnx")
		args := []string{"--data", place("rows.csv"), "--input", c.input + "=x0..x3", "--formula", "~ . + x4", "--export-onnx"}
		done(t, append([]string{"decompose", "--model", model, "--out", place("one")}, args...)...)
		write(t, place("adapted.onnx"), read(t, place("one"), resultdir.Adapted))
		done(t, append([]string{"decompose", "--model", place("adapted.onnx"), "--out", place("two")}, args...)...)
		for _, name := range []string{resultdir.Contributions, resultdir.Effects, resultdir.Adapted} {
			if read(t, place("one"), name) != read(t, place("two"), name) {
				t.Errorf("%s: %s differs", c.model, name)
			}
		}
	}
}

// A term inside of a loop is refused before rows are read, and nothing is written.
func TestExportInside(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data, out := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	var columns []string
	for i := range 15 {
		columns = append(columns, "c"+strconv.Itoa(i))
	}
	write(t, data, strings.Join(columns, ",")+"\n"+strings.Repeat("1,2,3,4,5,6,7,8,9,1,2,3,4,5,6\n", 20))
	model := filepath.Join("..", "..", "testdata", "zoo", "networks", "keras", "gru.onnx")
	o := call(t, "decompose", "--model", model, "--data", data, "--export-onnx", "--out", out)
	_, err := os.Stat(out)
	if o.status != exitFailed || !strings.Contains(o.err, "is not in the file: it is computed inside of a function, a loop") || err == nil {
		t.Errorf("status %d, %v\n%s", o.status, err, o.err)
	}
}

// The surrogate of a model that is no file is its structured part: of columns of predictions, by every kind of term; its
// response is that of its eta, and its metadata say how large the remainder is. It opens as a network.
func TestSurrogate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, text := filepath.Join(dir, "rows.csv"), strings.Split(strings.TrimSpace(rows(1500)), "\n")
	for i, line := range text {
		cells := strings.Split(line, ",")
		if p := "p,q"; i > 0 {
			x0, x1 := number(t, cells[0]), number(t, cells[1])
			eta := math.Sin(x0) + 0.3*x0*x1 + 0.1*number(t, cells[10])
			p = fmt.Sprintf("%g,%g", 1/(1+math.Exp(-eta)), 1/(1+math.Exp(eta)))
			text[i] += "," + p
		} else {
			text[i] += "," + p
		}
	}
	write(t, data, strings.Join(text, "\n")+"\n")
	for _, c := range []struct{ columns, link, formula, again string }{
		{"p", "logit", `~ x2 + s(x0) + g + s(x3, by=g) + factor(dow)`, "y ~ x0"},
		{"p", "cloglog", `~ te(x0, x1, k=c(4,4)) + s(x2, bs="cr") + g:x3 + s(g, bs="re")`, ""},
		{"q,p", "softmax", `~ s(x0, bs="ps") + s(x1, bs="cc") + ridge(x2, x3, x4)`, ""},
		{"p", "softplus", `~ s(x0)`, ""},
		{"p", "identity", `~ ti(x0, x1, k=c(4,4)) + s(x0, k=5) + s(x2, g, bs="fs", k=4)`, ""},
	} {
		out := filepath.Join(dir, c.link)
		done(t, "decompose", "--predictions", c.columns, "--link", c.link, "--data", data, "--formula", c.formula, "--export-onnx", "--out", out)
		eta, rest := columnOf(t, out, "eta"), columnOf(t, out, "unstructured")
		again := filepath.Join(dir, c.link+"-again")
		done(t, "decompose", "--model", filepath.Join(out, resultdir.Surrogate), "--no-structure", "--data", data, "--formula", "~ x0", "--interactions", "none", "--out", again)
		for i, got := range columnOf(t, again, "eta") {
			// Both compute the same columns in float64, with sums in another order.
			if want := eta[i] - rest[i]; math.Abs(got-want) > 1e-10 {
				t.Fatalf("%s, row %d: the surrogate is %v, the structured part %v", c.link, i+1, got, want)
			}
		}
		if head := map[string]string{"logit": "sigmoid", "cloglog": "inv_cloglog", "softplus": "softplus", "softmax": "sigmoid", "identity": ""}[c.link]; !strings.Contains(done(t, "inspect", filepath.Join(out, resultdir.Surrogate), "--json").out, `"head": "`+head) && head != "" {
			t.Errorf("%s: the response is not %s of eta", c.link, head)
		}
		if raw := read(t, out, resultdir.Surrogate); !strings.Contains(raw, `"unstructured":`) || !strings.Contains(raw, `"rows":1500`) {
			t.Errorf("%s: the file does not say how large the remainder is", c.link)
		}
		if _, err := os.Stat(filepath.Join(out, resultdir.Adapted)); err == nil {
			t.Errorf("%s: there is an %s too", c.link, resultdir.Adapted)
		}
	}
	if o := call(t, "decompose", "--predictions", "p", "--data", data, "--formula", "~ 1", "--export-onnx", "--out", filepath.Join(dir, "none")); o.status != exitFailed || !strings.Contains(o.err, "constant") {
		t.Errorf("a formula without terms: %d %s", o.status, o.err)
	}
}

// A booster's file becomes ONNX with a part for every term, its own too: opened again, that is the model that it was made of.
func TestExportBooster(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	var csv strings.Builder
	csv.WriteString("x1,g\n")
	for i := range 60 {
		fmt.Fprintf(&csv, "%g,%s\n", float64(i*7%60)/20, []string{"a", "b", "c"}[i%3])
	}
	write(t, place("rows.csv"), csv.String())
	for name, flags := range map[string][]string{"own": nil, "formula": {"--formula", "~ s(x1, k=5)", "--no-structure"}} {
		args := append([]string{"--data", place("rows.csv"), "--export-onnx"}, flags...)
		done(t, append([]string{"decompose", "--model", "../../testdata/formats/0.1.0/trees.json", "--out", place(name)}, args...)...)
		done(t, append([]string{"decompose", "--model", filepath.Join(place(name), resultdir.Adapted), "--out", place(name + " again")}, args...)...)
		first, second := read(t, place(name), resultdir.Contributions), read(t, place(name+" again"), resultdir.Contributions)
		if head, _, _ := strings.Cut(first, "\n"); !strings.HasPrefix(second, head) {
			t.Errorf("%s: the columns are %q, and %.80q after opening the file", name, head, second)
		}
		eta, again := columnOf(t, place(name), "eta"), columnOf(t, place(name+" again"), "eta")
		for i := range eta {
			if math.Abs(eta[i]-again[i]) > 1e-14 { // sums in another order
				t.Errorf("%s, row %d: %v, and %v after opening the file", name, i+1, eta[i], again[i])
			}
		}
		if raw := read(t, place(name), resultdir.Adapted); !strings.Contains(raw, "LabelEncoder") || strings.Contains(raw, "TextNumbers") {
			t.Errorf("%s: the file has operators that are none of the standard", name)
		}
	}
}
