package command

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Package pho and the command write the same result, but for who wrote it, and read each
// other's: of a network with numbers, and of one that was trained on text.
func TestLibraryWritesWhatTheCommandWrites(t *testing.T) {
	temp := t.TempDir()
	rows, model := demoFiles(t, temp)
	compareWithLibrary(t, model, rows, `y ~ s(x2, bs="ps", k=12) + s(x5, bs="cr", k=8)`)

	var text strings.Builder
	text.WriteString("x1,g,y\n")
	for i := range 600 {
		fmt.Fprintf(&text, "%g,%s,%g\n", float64(i%37)/10, []string{"north", "south", "east"}[i%3], float64(i%37)/20+float64(i%3))
	}
	rows = filepath.Join(temp, "text.csv")
	write(t, rows, text.String())
	trained := filepath.Join(temp, "trained")
	done(t, "train", "--data", rows, "--formula", "y ~ x1 + g", "--deep", "x1,g", "--epochs", "3", "--out", trained)
	compareWithLibrary(t, filepath.Join(trained, fileNetwork), rows, "y ~ s(x1, k=6)")
}

// demoFiles writes rows and a network of the demo.
func demoFiles(t *testing.T, dir string) (rows, model string) {
	t.Helper()
	rows, model = filepath.Join(dir, "rows.csv"), filepath.Join(dir, "ssn.onnx")
	table, err := simulate(1500, 3)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := writeRows(&text, table); err != nil {
		t.Fatal(err)
	}
	network, err := demoNetworks.ReadFile("demo/ssn.onnx")
	if err != nil {
		t.Fatal(err)
	}
	write(t, rows, text.String())
	write(t, model, string(network))
	return rows, model
}

func compareWithLibrary(t *testing.T, model, rows, formula string) {
	t.Helper()
	temp := t.TempDir()
	own, other := filepath.Join(temp, "command"), filepath.Join(temp, "library")
	done(t, "decompose", "--model", model, "--data", rows, "--formula", formula, "--export-onnx", "--out", own)

	src, err := pho.OpenRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	d, err := pho.Decompose(t.Context(), model, src, &pho.Options{Formula: formula, ExportONNX: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{resultdir.Moments, resultdir.Effects, resultdir.Adapted} {
		if read(t, own, name) != read(t, other, name) {
			t.Errorf("%s differs", name)
		}
	}
	if diff := cmp.Diff(artifact(t, own), artifact(t, other)); diff != "" {
		t.Error(diff)
	}
	done(t, "verify", other)
	done(t, "report", other)
	if d, err = pho.Read(own); err != nil {
		t.Fatal(err)
	}
	sameContributions(t, d, src, own)
	var again strings.Builder
	if err := d.WriteONNX(&again); err != nil || again.String() != read(t, own, resultdir.Adapted) {
		t.Errorf("%s of the result that was read differs: %v", resultdir.Adapted, err)
	}
}

// artifact is decomposition.json without its maker and digest.
func artifact(t *testing.T, dir string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"created_by", "sha256"} {
		if doc[name] == nil {
			t.Fatalf("no %s among %d fields", name, len(doc))
		}
		delete(doc, name)
	}
	return doc
}

// sameContributions compares the parts of the rows with contributions.csv in dir.
func sameContributions(t *testing.T, d *pho.Decomposition, rows files.Source, dir string) {
	t.Helper()
	header, records := table(t, dir, resultdir.Contributions)
	next := 0
	for parts, err := range d.Parts(t.Context(), rows) {
		if err != nil {
			t.Fatal(err)
		}
		p := parts.Predictors[0]
		for i := range parts.Batch.Rows() {
			got := append([]float64{p.Intercept}, p.Terms.RawRowView(i)...)
			got = append(got, p.Unstructured[i], p.Eta[i])
			if len(got) != len(header) {
				t.Fatalf("%d parts, %d columns", len(got), len(header))
			}
			for j, v := range got {
				if want, err := strconv.ParseFloat(records[next][j], 64); err != nil || math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("row %d, %s: %g, want %g", next, header[j], v, want)
				}
			}
			next++
		}
	}
	if next != len(records) || next == 0 {
		t.Errorf("%d rows, want %d", next, len(records))
	}
}
