package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Results that are damaged or of another kind are refused by what is wrong with
// them, by apply and report alike.
func TestDamagedResults(t *testing.T) {
	temp := t.TempDir()
	data, good := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "good")
	write(t, data, rows(40))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ g", "--out", good)
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %q", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	edit := func(old, new string) func(string) string { // and signed
		return func(s string) string {
			doc, err := decompose.Sign([]byte(replace(old, new)(s)))
			if err != nil {
				t.Fatal(err)
			}
			return string(doc)
		}
	}
	cut := func(s string) string { return s[:len(s)/2] }
	for _, c := range []struct {
		name, file string
		damage     func(string) string
		want       string
	}{
		{"cut document", resultdir.Decomposition, cut, "decomposition"},
		{"empty document", resultdir.Decomposition, func(string) string { return "" }, "decomposition"},
		{"another format", resultdir.Decomposition, replace("pho.decomposition/1", "pho.decomposition/99"), `pho.decomposition/99`},
		{"no network", resultdir.Decomposition, edit(`"sha256"`, `"sha"`), "does not say which network it is of: it has no sha256\n"},
		{"changed kind", resultdir.Decomposition, edit(`"kind": "factor"`, `"kind": "magic"`), "magic"},
		{"not signed", resultdir.Decomposition, replace(`"kind": "factor"`, `"kind": "magic"`), "digest (sha256) of its content; if it was edited on purpose, pho verify DIR --sign accepts it"},
		{"cut moments", resultdir.Moments, func(s string) string { return s[:200] }, "moments"},
		{"changed bands", resultdir.Moments, func(s string) string { return s[:200] + "\x00\x01" + s[202:] }, "moments"},
		{"no moments", resultdir.Moments, nil, `is not a directory that decompose wrote: moments.bin: no such file or directory`},
		{"no document", resultdir.Decomposition, nil, `is not a directory that decompose wrote: decomposition.json: no such file or directory`},
	} {
		dir := filepath.Join(temp, c.name)
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		if c.damage == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, c.damage(read(t, path)))
		}
		report := read(t, dir, resultdir.Report)
		for _, o := range []outcome{call(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"), call(t, "report", dir)} {
			if o.status != exitFailed || !strings.Contains(o.err, c.want) || o.out != "" || strings.Count(o.err, "\n") != 1 {
				t.Errorf("%s: status %d, %s%s", c.name, o.status, o.err, o.out)
			}
		}
		if read(t, dir, resultdir.Report) != report {
			t.Errorf("%s: the report was written", c.name)
		}
	}
	// Behind the bands, which are read alone and have a digest of their own, damage is noticed by what reads the rest.
	moments := filepath.Join(good, resultdir.Moments)
	whole := read(t, moments)
	for name, damaged := range map[string]string{"cut": cut(whole), "changed": whole[:len(whole)-9] + "\x00\x01" + whole[len(whole)-7:]} {
		write(t, moments, damaged)
		if o := call(t, "verify", good); o.status != exitFailed || !strings.Contains(o.err, "moments") {
			t.Errorf("verify of %s moments: status %d, %s", name, o.status, o.err)
		}
	}
}

// Numbers that overflow the sums are an error at once, not a result that nobody
// can read.
func TestOverflow(t *testing.T) {
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	lines := strings.Split(strings.TrimSpace(rows(40)), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.Replace(line, ",", "e160,", 1)
	}
	write(t, data, strings.Join(lines, "\n")+"\n")
	o := call(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", dir)
	if o.status != exitFailed {
		t.Errorf("status %d, %s", o.status, o.err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a result was written")
	}
}

// apply writes into pipes and devices as they are, and replaces files.
func TestApplyTargets(t *testing.T) {
	temp := t.TempDir()
	data, dir, out := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result"), filepath.Join(temp, "applied.csv")
	write(t, data, rows(40))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", dir)
	write(t, out, "old")
	link := filepath.Join(temp, "link.csv")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	done(t, "apply", "--decomposition", dir, "--data", data, "--out", link)
	if read(t, out) != read(t, dir, resultdir.Contributions) {
		t.Error("the file that the link points to was not written")
	}
	done(t, "apply", "--decomposition", dir, "--data", data, "--out", os.DevNull)
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatal("the null device was replaced by a file")
	}
}

// TestCellsBesidePairs: a result with cells of two factors beside a surface and its margin is written, with the standard errors of
// its coefficients, and read.
func TestCellsBesidePairs(t *testing.T) {
	temp := t.TempDir()
	data, out := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "out")
	var csv strings.Builder
	csv.WriteString("x,z,size,kind,p\n")
	for i := range 200 {
		x, z := float64(i*37%101)/101, float64(i*53%97)/97
		fmt.Fprintf(&csv, "%g,%g,%c,%c,%g\n", x, z, 'a'+i%3, 'u'+i/3%2, x*x+z*x+float64(i%3*(i/3%2))+float64(i*29%13)/50)
	}
	write(t, data, csv.String())
	done(t, "decompose", "--predictions", "p", "--data", data, "--formula", "~ s(x) + te(x, z, k=4) + size:kind + kind:z", "--out", out)
	if o := call(t, "summary", out); o.status != 0 || !strings.Contains(o.out, "(Intercept)") {
		t.Errorf("summary: status %d, %s%s", o.status, o.err, o.out)
	}
}
