package command

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// helped lets the test program be the helper that loads ONNX Runtime, which it computes in place of.
func helped(t *testing.T) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PHO_ORT", own)
	t.Setenv("PHO_TEST_COMMAND", "helper")
}

// A network that ONNX Runtime computes: the artifact and a warning say so, parts sum to its output, whoever opens the
// result takes it too, and without a helper is told of --engine go, which goes on with a warning.
func TestEngine(t *testing.T) {
	helped(t)
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(500))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--engine", "onnxruntime", "--out", dir)
	doc := read(t, dir, resultdir.Decomposition)
	for _, says := range []string{`"name": "onnxruntime"`, `"version": "0.0.0"`, "the network was computed by ONNX Runtime 0.0.0"} {
		if !strings.Contains(doc, says) {
			t.Errorf("the artifact does not say %s", says)
		}
	}
	header, parts := table(t, dir, resultdir.Contributions)
	for _, row := range parts {
		sum, eta := 0.0, number(t, row[len(row)-1])
		for _, cell := range row[:len(row)-1] {
			sum += number(t, cell)
		}
		if float64(float32(eta)) != eta || math.Abs(sum-eta) > 1e-5 {
			// the deep part is summed up from numbers in float32
			t.Fatalf("%q: parts sum to %v, the engine's output in float32 is %v", header, sum, eta)
		}
	}
	apply := func(more ...string) outcome {
		return call(t, append([]string{"apply", "--decomposition", dir, "--data", data, "--out", "-"}, more...)...)
	}
	written := read(t, dir, resultdir.Contributions)
	if o := apply(); o.out != written || o.err != "" {
		t.Errorf("apply gives other contributions: %s", o.err)
	}
	t.Setenv("PHO_ORT", filepath.Join(temp, "nothing"))
	if o := apply(); o.status != exitFailed || !strings.Contains(o.err, "--engine go") {
		t.Errorf("without a helper: status %d: %s", o.status, o.err)
	}
	// The test's helper computes as --engine go does; float64 is something else.
	for _, own := range [][]string{{"--engine", "go"}, {"--precision", "float64"}} {
		o := apply(own...)
		if o.status != exitDone || (o.out == written) != (own[0] == "--engine") || !strings.Contains(o.err, "was decomposed by ONNX Runtime 0.0.0 and is computed here by pho's own engine") {
			t.Errorf("%s: status %d, the same contributions: %v: %s", own, o.status, o.out == written, o.err)
		}
	}
	if o := call(t, "explain", dir, "--row", "3", "--data", data, "--engine", "go"); o.status != exitDone {
		t.Errorf("explain: %s", o.err)
	}
	done(t, "report", dir)
	done(t, "verify", dir)
}

// Where classes are differences to one, engines are compared on these.
func TestEngineOfClasses(t *testing.T) {
	helped(t)
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(500))
	done(t, "decompose", "--model", golden("softmax"), "--data", data, "--input", "x=x0..x3", "--formula", "~ x1", "--interactions", "none", "--reference", "1", "--engine", "onnxruntime", "--out", dir)
	if doc := read(t, dir, resultdir.Decomposition); strings.Contains(doc, "standard deviations of it") {
		t.Error("equal engines are said to differ")
	}
}

// Shards make the bytes of one decomposition by ONNX Runtime, too, and say as it does how far its first rows are from our own
// engine's.
func TestEngineOfPlan(t *testing.T) {
	helped(t)
	t.Setenv("PHO_TEST_COMMAND", "other helper")
	h := shards{temp: t.TempDir(), n: 2, random: rand.New(rand.NewPCG(1, 1))}
	data := h.place("rows.csv")
	write(t, data, rows(9000))
	args := []string{"--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--interactions", "none", "--engine", "onnxruntime"}
	done(t, append([]string{"decompose", "--out", h.place("whole")}, args...)...)
	done(t, append([]string{"plan", "--shards", "2", "--out", h.place("plan")}, args...)...)
	h.run(t)
	equalResults(t, h.place("result"), h.place("whole"))
	if doc := read(t, h.place("result"), resultdir.Decomposition); !strings.Contains(doc, "on the first 16 rows predictor") {
		t.Error("nobody says that the engines differ")
	}
}
