package command

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/revision"
)

// Every network that PyTorch exported is decomposed, the parts sum to the
// network's own output as PyTorch computes it, and apply gives the same bytes.
func TestDecomposeGolden(t *testing.T) {
	cases := map[string]struct {
		args    []string
		columns string // of contributions.csv
	}{
		"ssn_op11":         {columns: "intercept x0 x1 x2 unstructured eta"},
		"ssn_op17":         {columns: "intercept x0 x1 x2 unstructured eta"},
		"ssn_apart":        {columns: "intercept x0 x1 unstructured eta"},
		"standardised":     {columns: "intercept x0 x1 x2 x3 unstructured eta"},
		"duplicated":       {columns: "intercept x0 x1 x2 unstructured eta"},
		"nam_deep_op13":    {columns: "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		"nam_only":         {columns: "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		"nam_pair":         {columns: "intercept f(x0) f(x1) f(x2) f(x3) f(x1,x3) unstructured eta"},
		"nam_conv":         {columns: "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		"nam_bmm":          {columns: "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		"blackbox":         {columns: "intercept x0 x1 x2 x3 unstructured eta"},
		"residual":         {[]string{"--formula", `~ x0 + s(x1, bs="ps", k=6)`}, "intercept x0 s(x1) unstructured eta"},
		"sigmoid":          {[]string{"--formula", `~ s(x1, bs="cr", k=5)`}, "intercept s(x1) unstructured eta"},
		"softmax":          {[]string{"--formula", "~ x0", "--formula", "y3 = ~ x1"}, "y1.intercept y1.x0 y1.unstructured y1.eta y2.intercept y2.x0 y2.unstructured y2.eta y3.intercept y3.x0 y3.x1 y3.unstructured y3.eta"},
		"two_heads":        {columns: "mu.intercept mu.x0 mu.x1 mu.x2 mu.x3 mu.f(x0) mu.unstructured mu.eta sigma.intercept sigma.x1 sigma.f(x0) sigma.unstructured sigma.eta"},
		"two_heads_joined": {columns: "y1.intercept y1.x0 y1.x1 y1.x2 y1.x3 y1.f(x0) y1.unstructured y1.eta y2.intercept y2.x1 y2.f(x0) y2.unstructured y2.eta"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "new", "result")
			goldenRows(t, name, data)
			o := done(t, append([]string{"decompose", "--model", golden(name), "--data", data, "--out", dir}, c.args...)...)
			if o.out != "" {
				t.Errorf("standard output: %q", o.out)
			}
			header, records := table(t, dir, resultdir.Contributions)
			if got := strings.Join(header, " "); got != c.columns {
				t.Errorf("columns\n%s, want\n%s", got, c.columns)
			}
			for k, eta := range goldenEta(t, name) {
				at := indices(header, "eta")[k]
				from := 0
				if k > 0 {
					from = indices(header, "eta")[k-1] + 1
				}
				checkSums(t, records, from, at, eta)
			}
			again := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-")
			if again.out != read(t, dir, resultdir.Contributions) {
				t.Errorf("apply on the training rows differs from %s", resultdir.Contributions)
			}
			checkEffects(t, dir, header)
			before := contents(t, dir)
			done(t, "report", dir)
			for file, bytes := range contents(t, dir) {
				if bytes != before[file] {
					t.Errorf("report changed %s", file)
				}
			}
		})
	}
}

// goldenEta is PyTorch's eta, by predictor.
func goldenEta(t *testing.T, name string) [][]float64 {
	var doc struct {
		Predictors []struct {
			Eta []float64 `json:"eta"`
		} `json:"predictors"`
	}
	if err := json.Unmarshal([]byte(read(t, strings.TrimSuffix(golden(name), ".onnx")+".json")), &doc); err != nil {
		t.Fatal(err)
	}
	var eta [][]float64
	for _, p := range doc.Predictors {
		eta = append(eta, p.Eta)
	}
	if name == "softmax" { // whose classes are centred
		for i := range eta[0] {
			mean := (eta[0][i] + eta[1][i] + eta[2][i]) / 3
			for k := range eta {
				eta[k][i] -= mean
			}
		}
	}
	return eta
}

// indices are the positions of the columns called name, with or without prefix.
func indices(header []string, name string) []int {
	var at []int
	for j, h := range header {
		if h == name || strings.HasSuffix(h, "."+name) {
			at = append(at, j)
		}
	}
	return at
}

// checkSums compares columns from..at-1 with column at, and that with eta.
func checkSums(t *testing.T, records [][]string, from, at int, eta []float64) {
	t.Helper()
	if len(records) != len(eta) {
		t.Fatalf("%d rows, want %d", len(records), len(eta))
	}
	scale := 0.0
	for _, v := range eta {
		scale = max(scale, math.Abs(v))
	}
	for i, record := range records {
		sum, got := 0.0, number(t, record[at])
		for _, cell := range record[from:at] {
			sum += number(t, cell)
		}
		if math.Abs(sum-got) > 1e-9*scale {
			t.Errorf("row %d: parts sum to %v, eta is %v", i, sum, got)
		}
		if math.Abs(got-eta[i]) > 1e-5*scale {
			t.Errorf("row %d: eta %v, PyTorch has %v", i, got, eta[i])
		}
	}
}

// checkEffects looks at effects.csv: its columns, stages, and that every term of
// contributions.csv is there.
func checkEffects(t *testing.T, dir string, contributions []string) {
	t.Helper()
	header, records := table(t, dir, resultdir.Effects)
	if got := strings.Join(header, ","); got != "predictor,term,stage,x,x2,value,se,lower,upper,lower_sim,upper_sim" {
		t.Errorf("effects.csv has columns %s", got)
	}
	seen := map[string]bool{}
	for _, r := range records {
		if r[2] != "before" && r[2] != "after" {
			t.Fatalf("stage %q", r[2])
		}
		if r[5] != "" || r[4] == "" { // surfaces are empty where no row is near
			number(t, r[5])
		}
		seen[r[0]+"."+r[1]+" "+r[2]] = true
	}
	for _, name := range contributions {
		if strings.HasSuffix(name, "intercept") || strings.HasSuffix(name, "unstructured") || strings.HasSuffix(name, "eta") {
			continue
		}
		if !strings.HasPrefix(name, "mu.") && !strings.HasPrefix(name, "sigma.") && !strings.ContainsAny(name[:1], "y012") { // outputs and classes by number
			name = "eta." + name
		}
		for _, stage := range []string{" before", " after"} {
			if !seen[name+stage] {
				t.Errorf("effects.csv lacks %s%s", name, stage)
			}
		}
	}
}

// The artifact has the fields of the contract, by exactly these names, and
// nothing of time, host or workers; run.json has those.
func TestArtifactFields(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(300))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--weights", "w",
		"--formula", `y ~ s(x3, bs="ps", k=8) + g + dow`, "--factor", "dow", "--out", dir, "--workers", "1")
	doc := document(t, dir)
	need := func(where string, m any, names ...string) map[string]any {
		t.Helper()
		fields, ok := m.(map[string]any)
		if !ok {
			t.Fatalf("%s is %T", where, m)
		}
		for _, name := range names {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s lacks %q", where, name)
			}
		}
		return fields
	}
	need("document", doc, "format", "created_by", "model", "rows", "method", "smoothing", "predictors", "diagnostics", "warnings", "moments_sha256")
	if doc["format"] != "pho.decomposition/1" || doc["created_by"] != revision.Maker || doc["method"] != "phogam" || doc["smoothing"] != "reml" || doc["rows"] != 300.0 {
		t.Errorf("format %v, created_by %v, method %v, smoothing %v, rows %v", doc["format"], doc["created_by"], doc["method"], doc["smoothing"], doc["rows"])
	}
	m := need("model", doc["model"], "path", "sha256", "inputs")
	if got := need("inputs", m["inputs"], "x")["x"].([]any); len(got) != 5 || got[4] != "x4" {
		t.Errorf("input x is %v", got)
	}
	p := need("predictor", doc["predictors"].([]any)[0], "name", "intercept", "rank", "columns", "rank_tolerance", "scale", "score",
		"reconstruction_error", "terms", "variance", "importance")
	need("variance", p["variance"], "structured", "unstructured", "twice_covariance", "total")
	kinds := map[string]string{}
	for _, term := range p["terms"].([]any) {
		f := need("term", term, "name", "kind", "features", "columns", "edf", "sp", "identified", "aliased_with", "spec", "center", "beta", "alpha", "before", "after")
		need("before", f["before"], "variance")
		need("after", f["after"], "variance")
		for _, list := range []string{"features", "sp", "aliased_with", "beta", "alpha"} {
			if _, ok := f[list].([]any); !ok {
				t.Errorf("term %v: %s is %v, not a list", f["name"], list, f[list])
			}
		}
		kinds[f["name"].(string)] = f["kind"].(string)
	}
	want := map[string]string{"x0": "linear", "x1": "linear", "x2": "linear", "s(x3)": "smooth", "g": "factor", "dow": "factor"}
	for name, kind := range want {
		if kinds[name] != kind {
			t.Errorf("term %q is %q, want %q", name, kinds[name], kind)
		}
	}
	if len(kinds) != len(want) {
		t.Errorf("terms %v", kinds)
	}
	for _, i := range p["importance"].([]any) {
		need("importance", i, "feature", "terms", "mcfadden", "mcfadden_valid", "delta_loglik_per_row", "deviance_r2")
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(read(t, dir, resultdir.Decomposition), host) {
		t.Error("the artifact holds the host's name")
	}
	var about map[string]any
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Run)), &about); err != nil {
		t.Fatal(err)
	}
	need(resultdir.Run, about, "created_by", "commit", "started", "seconds", "workers", "go", "platform", "kernel", "arguments")
	if args := about["arguments"].([]any); args[0] != "decompose" || about["workers"] != 1.0 {
		t.Errorf("run.json: arguments %v, workers %v", args, about["workers"])
	}
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	wantFiles := slices.DeleteFunc(resultdir.Files(), func(name string) bool {
		return name == resultdir.Parquet || name == resultdir.Adapted || name == resultdir.Surrogate
	})
	slices.Sort(wantFiles)
	if !slices.Equal(names, wantFiles) {
		t.Errorf("the result holds %v", names)
	}
	if html := read(t, dir, resultdir.Report); !strings.Contains(html, "default-src 'none'") || strings.Contains(html, "http://") && !strings.Contains(html, "http://www.w3.org/") {
		t.Error("the report could reach for the network")
	}
}

// Batches and workers change nothing but run.json.
func TestSameBytes(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(9000))
	first := ""
	for _, c := range [][]string{{"1", "8"}, {"7", "1"}, {"4096", "8"}, {"9000", "1"}, {"4096", "1", "--zeta-cache", filepath.Join(temp, "zeta")}} {
		dir := filepath.Join(temp, "result"+c[0]+c[1])
		done(t, append([]string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--weights", "w",
			"--formula", `y ~ s(x3, bs="ps") + s(x4, bs="cr", by=g) + dow`, "--factor", "dow", "--out", dir,
			"--batch-size", c[0], "--workers", c[1], "--export-onnx"}, c[2:]...)...)
		if first == "" {
			first = dir
			continue
		}
		for _, file := range resultdir.Files() {
			if file != resultdir.Run && file != resultdir.Parquet && file != resultdir.Surrogate && read(t, first, file) != read(t, dir, file) {
				t.Errorf("batches and workers %v: %s differs", c, file)
			}
		}
	}
}
