package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// ordinalNetworks writes the networks of testdata/golden/ordinal.json into dir, and their
// rows: columns y of the classes' numbers, rating and word of them in other writings, bad of
// too many.
func ordinalNetworks(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	var golden struct {
		X     [][]float64
		Cases []struct {
			Name         string
			Model        []byte
			Y            []int
			Loglik, Null float64
		}
	}
	text, err := os.ReadFile("../../testdata/golden/ordinal.json")
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]float64{}
	for _, c := range golden.Cases {
		name := strings.ReplaceAll(c.Name, " ", "_")
		write(t, filepath.Join(dir, name+".onnx"), string(c.Model))
		rows := "x1,x2,x3,y,one,rating,word,many,half\n"
		for i, x := range golden.X {
			if c.Y != nil {
				y := c.Y[i]
				rows += fmt.Sprintf("%g,%g,%g,%d,%d,%d,level %d,%d,%g\n", x[0], x[1], x[2], y, y+1, 10*y-7, y, i, float64(min(y, 1))+0.5)
			}
		}
		write(t, filepath.Join(dir, name+".csv"), rows)
		explained[name] = 1 - c.Loglik/c.Null
	}
	return explained
}

// TestOrdinalNetwork: the likelihood of a network of ordered classes is by its own
// thresholds, however the response writes the classes: the deviance explained is that of
// ONNX Runtime's probabilities (float32: 1e-5).
func TestOrdinalNetwork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	explained := ordinalNetworks(t, dir)
	run := func(name, response, out string, further ...string) outcome {
		args := []string{"decompose", "--model", filepath.Join(dir, name+".onnx"), "--data", filepath.Join(dir, name+".csv"), "--input", "x=x1..x3", "--response", response, "--formula", "~ x1 + x2", "--out", filepath.Join(dir, out)}
		return call(t, append(args, further...)...)
	}
	for _, c := range []struct{ name, response, says string }{
		{"link_dynamo", "y", "the levels are [0 1 2 3], with the network's own thresholds of the predictor at [-1 0.1 1.3]"},
		{"link_traced", "one", "the levels are [1 2 3 4], with"},
		{"link_traced", "rating", "the levels are [-7 3 13 23], with"},
		{"coral_logits_dynamo", "y", "the levels are [0 1 2 3 4], with the network's own thresholds of the predictor at [-1.2 -0.3 0.4 1]"},
		{"below_traced", "one", "the levels are [4 3 2 1] in this order, so that a larger predictor means a lower class, with the network's own thresholds of the predictor at [-2 0 1]"},
		{"scaled_dynamo", "y", "a larger predictor means a lower class"},
	} {
		out := c.name + c.response
		o := run(c.name, c.response, out, "--export-onnx")
		if o.status != 0 || !strings.Contains(o.err, c.says) || !strings.Contains(o.err, "family ordinal") {
			t.Fatalf("%s %s: status %d\n%s", c.name, c.response, o.status, o.err)
		}
		if r := read(t, filepath.Join(dir, out, resultdir.Report)); !strings.Contains(r, "own thresholds of the predictor") {
			t.Errorf("%s: the report does not say the thresholds", c.name)
		}
		doc := document(t, filepath.Join(dir, out))
		got := doc["prediction"].(map[string]any)["deviance_explained"].(float64)
		if math.Abs(got-explained[c.name]) > 1e-5 {
			t.Errorf("%s %s: %.7f of the deviance, want %.7f", c.name, c.response, got, explained[c.name])
		}
		if p := doc["predictors"].([]any); len(p) != 1 || p[0].(map[string]any)["name"] != "eta" {
			t.Errorf("%s: %d predictors", c.name, len(p))
		}
		// what was exported opens as the same network
		again := done(t, "decompose", "--model", filepath.Join(dir, out, resultdir.Adapted), "--data", filepath.Join(dir, c.name+".csv"), "--input", "x=x1..x3", "--response", c.response, "--formula", "~ x1 + x2", "--out", filepath.Join(dir, out+"again"))
		if !strings.Contains(again.err, c.says) || read(t, filepath.Join(dir, out), resultdir.Contributions) != read(t, filepath.Join(dir, out+"again"), resultdir.Contributions) {
			t.Errorf("%s: the exported file is decomposed otherwise\n%s", c.name, again.err)
		}
	}
	for _, c := range []struct{ name, response, family, says string }{
		{"link_traced", "word", "", `level "level`},
		{"link_traced", "half", "", "has 2 different numbers ([0.5 1.5]), and the network 4 ordered classes: write them as 0 to 3"},
		{"link_traced", "many", "", "has 40 different numbers"},
		{"link_traced", "nowhere", "", `there is no column "nowhere"`},
		{"link_traced", "y", "binomial", `ends in "ordinal"`},
	} {
		further := []string{}
		if c.family != "" {
			further = append(further, "--family", c.family)
		}
		if o := run(c.name, c.response, "bad", further...); o.status == 0 || !strings.Contains(o.err, c.says) {
			t.Errorf("%s: status %d: %s", c.response, o.status, o.err)
		}
		if _, err := os.Stat(filepath.Join(dir, "bad")); err == nil {
			t.Errorf("%s: a result is left", c.response)
		}
	}
	if o := run("link_traced", "y", "members", "--model", filepath.Join(dir, "steps_traced.onnx")); o.status == 0 || !strings.Contains(o.err, "its thresholds of ordered classes are others than the first network's") {
		t.Errorf("members: status %d: %s", o.status, o.err)
	}
	if o := run("link_traced", "y", "twins", "--model", filepath.Join(dir, "link_dynamo.onnx")); o.status != 0 || !strings.Contains(o.err, "own thresholds") {
		t.Errorf("twins: status %d: %s", o.status, o.err)
	}
}

// TestOrdinalNetworkOfPolr: a network with the predictor and cut points of MASS::polr on
// MASS::housing explains of the deviance what polr does.
func TestOrdinalNetworkOfPolr(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var golden struct {
		Polr struct {
			Y, W, Eta, Cuts []float64
			Loglik          float64
		}
	}
	text, err := os.ReadFile("../../testdata/golden/classes.json")
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := golden.Polr
	rows, of, sum := "latent,other,y,w\n", map[float64]float64{}, 0.0
	for i := range p.Y {
		rows += fmt.Sprintf("%.17g,%d,%g,%g\n", p.Eta[i], i*i%7, p.Y[i], p.W[i])
		of[p.Y[i]] += p.W[i]
		sum += p.W[i]
	}
	null := 0.0
	for _, w := range of {
		null += w * math.Log(w/sum)
	}
	write(t, filepath.Join(dir, "rows.csv"), rows)
	net := filepath.Join(dir, "net.onnx")
	model(t, net, 2, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 1}, 1, 0)
		b.AddInit("cuts", []int{1, 2}, p.Cuts...)
		b.AddNode("MatMul", []string{"x", "w"}, "eta")
		b.AddNode("Sub", []string{"cuts", "eta"}, "logits")
		b.AddNode("Sigmoid", []string{"logits"}, "y")
	})
	out := filepath.Join(dir, "result")
	done(t, "decompose", "--model", net, "--data", filepath.Join(dir, "rows.csv"), "--input", "x=latent,other", "--response", "y", "--weights", "w", "--formula", "~ other", "--out", out)
	got := document(t, out)["prediction"].(map[string]any)["deviance_explained"].(float64)
	if want := 1 - p.Loglik/null; math.Abs(got-want) > 1e-6 {
		t.Errorf("%.9f of the deviance, want %.9f", got, want)
	}
}
