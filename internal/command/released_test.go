package command

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/revision"
)

// What every release wrote lies under testdata/formats/VERSION, which says how it was
// written; docs/versions.md promises that it is read.
const released = "../../testdata/formats"

var writeFormats = flag.Bool("write-formats", false, "write testdata/formats of this version, if it is not there")

// releases are the directories of testdata/formats.
func releases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(released, "*.*.*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no releases in", released, err)
	}
	return dirs
}

// TestWriteFormats writes what this version writes, once: go test ./internal/command
// -run TestWriteFormats -write-formats; then the same of ./decompose and
// ./decompose/internal/moments.
func TestWriteFormats(t *testing.T) {
	if !*writeFormats {
		t.Skip("only with -write-formats")
	}
	dir := filepath.Join(released, revision.Release)
	if _, err := os.Stat(dir); err == nil {
		t.Fatalf("%s is there: what a release wrote does not change", dir)
	}
	mkdir(t, dir)
	place := func(name string) string { return filepath.Join(dir, name) }
	write(t, place("rows.csv"), rows(80))
	done(t, "train", "--data", place("rows.csv"), "--formula", `y ~ g + s(x1, bs="ps", k=6) + x2`, "--deep", "x0,x1,x3,g", "--hidden", "4", "--epochs", "12",
		"--seed", "1", "--checkpoint", place("checkpoint"), "--out", place("trained"))
	done(t, "train", "--data", place("rows.csv"), "--formula", "n ~ x1", "--family", "poisson", "--deep", "x0,x1", "--hidden", "3", "--epochs", "3",
		"--seed", "1", "--out", place("poisson"))
	done(t, "train", "--data", place("rows.csv"), "--formula", "y ~ g + x2", "--deep", "x0,x1", "--hidden", "3", "--epochs", "3",
		"--seed", "1", "--members", "2", "--resample", "--out", place("members"))
	done(t, "decompose", "--model", place("members"), "--data", place("rows.csv"), "--response", "y", "--formula", "~ s(x3, k=5)", "--out", place("several"))
	for _, name := range []string{resultdir.Effects, resultdir.Report, resultdir.Run} {
		if err := os.Remove(place("several/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, route := range []string{"gram", "qr"} {
		done(t, "decompose", "--model", place("trained/model.onnx"), "--data", place("rows.csv"), "--response", "y", "--weights", "w", "--route", route,
			"--formula", `~ s(x3, k=5) + te(x0, x2, k=c(4,4)) + dow`, "--out", place(route))
		for _, name := range []string{resultdir.Effects, resultdir.Report, resultdir.Run} { // apply and report need none of them
			if err := os.Remove(place(route + "/" + name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	levelled := filepath.Join(t.TempDir(), "levels.csv")
	write(t, levelled, levelledRows())
	done(t, "decompose", "--predictions", "p", "--data", levelled, "--formula", `~ g + s(x, bs="ps", k=5)`, "--contributions", "none", "--interactions", "none", "--out", place("levels"))
	for _, file := range []string{"effects.csv", "report.html", "run.json"} {
		if err := os.Remove(place("levels/" + file)); err != nil {
			t.Fatal(err)
		}
	}
	done(t, "monitor", place("gram"), "--data", place("rows.csv"), "--time", "dow", "--by", "label", "--block", "3", "--weights", "w", "--state", place("monitor.json"))
	done(t, "decompose", "--predictions", "y", "--data", place("rows.csv"), "--formula", "~ x1 + g", "--export-onnx", "--out", place("predicted"))
	write(t, place(resultdir.Surrogate), read(t, place("predicted"), resultdir.Surrogate))
	if err := os.RemoveAll(place("predicted")); err != nil {
		t.Fatal(err)
	}
}

// TestReleasesAreRead: new rows of a result of each release have the parts that the
// release gave them; its report is written, its network is opened and decomposed.
func TestReleasesAreRead(t *testing.T) {
	t.Parallel()
	for _, from := range releases(t) {
		dir := filepath.Join(t.TempDir(), filepath.Base(from))
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		place := func(name string) string { return filepath.Join(dir, name) }
		for _, route := range []string{"gram", "qr", "several"} { // the last: of the two networks in members
			done(t, "verify", place(route))
			done(t, "report", place(route))
			done(t, "apply", "--decomposition", place(route), "--data", place("rows.csv"), "--out", place("again.csv"))
			sameNumbers(t, place(route+"/"+resultdir.Contributions), place("again.csv"))
		}
		// The rows of a state are there already; others are added.
		if o := call(t, "monitor", place("gram"), "--data", place("rows.csv"), "--state", place("monitor.json")); o.status != exitFailed || !strings.Contains(o.err, "would count twice") {
			t.Errorf("%s: a state: status %d, %s", from, o.status, o.err)
		}
		write(t, place("more.csv"), rows(20))
		done(t, "monitor", place("gram"), "--data", place("more.csv"), "--state", place("monitor.json"))
		told := done(t, "inspect", place("trained/model.onnx")).out
		for _, want := range []string{"s(x1)", "x2", "g"} {
			if !strings.Contains(told, want) {
				t.Errorf("%s: inspect does not name %s:\n%s", from, want, told)
			}
		}
		done(t, "decompose", "--model", place("trained/model.onnx"), "--data", place("rows.csv"), "--out", place("new"))
		if o := done(t, "decompose", "--model", place("members"), "--data", place("rows.csv"), "--out", place("new")); !strings.Contains(o.err, "resamples") {
			t.Errorf("%s: how the networks differ is not told:\n%s", from, o.err)
		}
		if o := done(t, "decompose", "--model", place("poisson/model.onnx"), "--data", place("rows.csv"), "--response", "n", "--out", place("new")); !strings.Contains(o.err, "family poisson") {
			t.Errorf("%s: the family in the network's file is not told:\n%s", from, o.err)
		}
		if !strings.Contains(read(t, dir, "trained/training.json"), `"pho.training/1"`) {
			t.Errorf("%s: training.json is of another format", from)
		}
		// A checkpoint is gone on from by the program that wrote it; another one says
		// so, and does not call it damaged.
		o := call(t, "train", "--data", place("rows.csv"), "--formula", `y ~ g + s(x1, bs="ps", k=6) + x2`, "--deep", "x0,x1,x3,g", "--hidden", "4", "--epochs", "12",
			"--seed", "1", "--checkpoint", place("checkpoint"), "--resume", "--out", place("again"))
		if o.status != exitDone && !strings.Contains(o.err, "is of another configuration or other data") {
			t.Errorf("%s: a checkpoint: status %d, %s", from, o.status, o.err)
		}
	}
}

// sameNumbers compares CSV files of numbers, to what machines differ in.
func sameNumbers(t *testing.T, want, got string) {
	t.Helper()
	var tables [2][][]string
	for i, path := range []string{want, got} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if tables[i], err = csv.NewReader(f).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	if len(tables[0]) != len(tables[1]) || !slices.Equal(tables[0][0], tables[1][0]) {
		t.Fatalf("%s and %s have other rows or columns", want, got)
	}
	for i := range tables[0][1:] {
		for j, cell := range tables[0][i+1] {
			a, errA := strconv.ParseFloat(cell, 64)
			b, errB := strconv.ParseFloat(tables[1][i+1][j], 64)
			if errA != nil || errB != nil || !(math.Abs(a-b) <= 1e-8*(1+math.Abs(a))) {
				t.Fatalf("row %d, %s: %s in %s, %s in %s", i+1, tables[0][0][j], cell, want, tables[1][i+1][j], got)
			}
		}
	}
}

// levelledRows are rows of 520 levels, with what some model predicts.
func levelledRows() string {
	var b strings.Builder
	b.WriteString("x,g,p\n")
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 2600 {
		x, l := r.NormFloat64(), i%520
		fmt.Fprintf(&b, "%.4f,l%d,%.6f\n", x, l, math.Sin(x)+math.Cos(float64(l))+x*math.Sin(float64(l*l))/5)
	}
	return b.String()
}

// TestReleasedLevelsAreRead: covariances of many levels give each of them its standard error.
func TestReleasedLevelsAreRead(t *testing.T) {
	for _, dir := range releases(t) {
		r, err := resultdir.Read(filepath.Join(dir, "levels"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := r.Coefficients(0)
		if err != nil || len(all) != 520 {
			t.Fatal(len(all), err)
		}
		for _, c := range all {
			if !(c.SE > 0.01 && c.SE < 1) {
				t.Errorf("%s: level %q has the standard error %g", dir, c.Level, c.SE)
			}
		}
	}
}

// TestEveryFormatWasReleased: each name of a format in the code, like pho.decomposition/1,
// stands in a file of some release. A new format fails here until its files are there.
func TestEveryFormatWasReleased(t *testing.T) {
	t.Parallel()
	var files [][]byte
	err := filepath.WalkDir(released, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) == ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	formats := formatNames(t, "../..")
	if len(formats) < 7 {
		t.Errorf("the code names no more formats than %v", formats)
	}
	for _, name := range formats {
		if !slices.ContainsFunc(files, func(text []byte) bool { return bytes.Contains(text, []byte(name)) }) {
			t.Errorf("no file under testdata/formats is of the format %s, which the code names", name)
		}
	}
}

// formatNames are the literals in the module's code, tests aside, that begin with the
// name and version of a format.
func formatNames(t *testing.T, root string) (names []string) {
	t.Helper()
	format := regexp.MustCompile(`^pho\.[a-z]+/[0-9]+`)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && format.MatchString(text) {
					names = append(names, format.FindString(text))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
