package cloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rows is CSV for the network of the test.
func rows(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3,y\n")
	for range n {
		fmt.Fprintf(&text, "%g,%g,%g,%g,%g\n", r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
	}
	return []byte(text.String())
}

// A network, data and results in a store give the very files that they give on a disk where
// they lie in the same way, and new rows the same contributions.
func TestDecomposeInStore(t *testing.T) {
	network := readAll(t, "../testdata/golden/models/blackbox.onnx")
	table := rows(3000)
	one, two := table[:bytes.LastIndexByte(table[:len(table)/2], '\n')+1], table[bytes.LastIndexByte(table[:len(table)/2], '\n')+1:]
	two = append([]byte("x0,x1,x2,x3,y\n"), two...)
	arguments := func(url func(string) string) []string {
		return []string{"decompose", "--model", url("models/net.onnx"), "--data", url("part-*.csv"), "--formula", "y ~ s(x1, k=6) + x2", "--out", url("result"), "--workers", "1"}
	}
	temp := t.TempDir()
	if err := os.Mkdir(filepath.Join(temp, "models"), 0o700); err != nil {
		t.Fatal(err)
	}
	onDisk := map[string][]byte{"models/net.onnx": network, "part-1.csv": one, "part-2.csv": two}
	for name, content := range onDisk {
		if err := os.WriteFile(filepath.Join(temp, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done(t, nil, arguments(func(name string) string { return filepath.Join(temp, name) })...)
	for _, in := range []func(testing.TB) place{amazon, google, memory} {
		p := in(t)
		t.Run(p.name, func(t *testing.T) {
			for name, content := range onDisk {
				p.put(t, name, content)
			}
			o := done(t, p.store, arguments(p.url)...)
			if !strings.Contains(o.err, p.dir+"/result") && !strings.Contains(o.out, p.dir+"/result") || strings.Contains(o.out+o.err, os.TempDir()) {
				t.Errorf("it names another place than was asked for:\n%s%s", o.out, o.err)
			}
			entries, err := os.ReadDir(filepath.Join(temp, "result"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				got := p.get(t, "result/"+e.Name())
				if want := readAll(t, filepath.Join(temp, "result", e.Name())); e.Name() != "run.json" && !bytes.Equal(got, want) {
					t.Errorf("%s differs", e.Name())
				}
				for _, secret := range []string{secretKey, secretToken, os.TempDir()} {
					if bytes.Contains(got, []byte(secret)) {
						t.Errorf("%s holds %q", e.Name(), secret)
					}
				}
			}
			done(t, p.store, "apply", "--decomposition", p.url("result"), "--data", p.url("part-1.csv"), p.url("part-2.csv"), "--out", p.url("again.csv"))
			if !bytes.Equal(p.get(t, "again.csv"), readAll(t, filepath.Join(temp, "result", "contributions.csv"))) {
				t.Error("apply differs from contributions.csv")
			}
			p.put(t, "result/report.html", nil)
			done(t, p.store, "report", p.url("result"))
			if !bytes.Equal(p.get(t, "result/report.html"), readAll(t, filepath.Join(temp, "result", "report.html"))) {
				t.Error("report was not written")
			}
			if got := p.get(t, "result/contributions.csv"); len(got) == 0 {
				t.Error("report has emptied the contributions")
			}
			// A second run replaces the result, without the files that it has no more.
			done(t, p.store, append(arguments(p.url), "--contributions", "none")...)
			names, err := p.store.List(t.Context(), p.url("result/*"))
			if err != nil || len(names) != len(entries)-1 {
				t.Errorf("%q, %v", names, err)
			}
			// Somebody else's folder is left alone.
			p.put(t, "result/mine.txt", []byte("mine"))
			if o := call(t, p.store, arguments(p.url)...); o.status != 1 || !strings.Contains(o.err, p.dir+"/result") || !strings.Contains(o.err, `holds "mine.txt", which is not part of a result`) {
				t.Errorf("status %d: %s", o.status, o.err)
			}
			left, err := filepath.Glob(filepath.Join(os.TempDir(), "pho-objects-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
}

// What is wrong is said with the object's URL, and nothing is written.
func TestCommandFaults(t *testing.T) {
	p := amazon(t)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	p.put(t, "net.onnx", readAll(t, "../testdata/golden/models/blackbox.onnx"))
	p.put(t, "rows.csv", []byte("x0,x1,x2,x3\n1,2,3,\n"))
	with := func(model, data string) []string {
		return []string{"decompose", "--model", p.url(model), "--data", data, "--formula", "~ x1", "--out", p.url("result")}
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{with("net.onnx", p.url("none.csv")), 1, "some/folder/none.csv"},
		{with("net.onnx", p.url("none-*.csv")), 1, "no file matches"},
		{with("none.onnx", p.url("rows.csv")), 1, p.dir + "/none.onnx"},
		{with("net.onnx", p.url("rows.csv")), 1, "some/folder/rows.csv"},
		{[]string{"decompose", "--model", p.url("net.onnx"), "--data", "s3://me:" + secretKey + "@rows/a.csv", "--out", "x"}, 2, `"s3://rows/a.csv" holds a name or password`},
		{[]string{"apply", "--decomposition", "s3://rows/r?X-Amz-Security-Token=" + secretToken, "--data", "x", "--out", "-"}, 2, `"s3://rows/r" has in its query what is no setting`},
		{[]string{"apply", "--decomposition=s3://rows/r?endpoint=http://u:" + secretKey + "@h"}, 2, "its setting endpoint"},
		{[]string{"inspect", "azblob://rows/net.onnx?sig=" + secretKey}, 2, "may be a secret"},
		{[]string{"inspect", "s3://rows"}, 1, "names no object"},
		{[]string{"inspect", "s3://rows/../x"}, 1, "names no object"},
	} {
		o := call(t, p.store, c.args...)
		if o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("pho %q: status %d: %s\nwant %s", c.args, o.status, o.err, c.want)
		}
	}
	names, err := p.store.List(t.Context(), p.url("*/*"))
	if err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	// The program without object stores says which one has them.
	for _, args := range [][]string{{"inspect", "s3://rows/net.onnx"}, {"decompose", "--model", "../testdata/golden/models/blackbox.onnx", "--data", "s3://rows/x.csv", "--out", filepath.Join(t.TempDir(), "x")}} {
		if o := call(t, nil, args...); o.status != 1 || !strings.Contains(o.err, "pho-cloud") {
			t.Errorf("pho %q: status %d: %s", args, o.status, o.err)
		}
	}
}

// What run.json keeps of the call has no secrets in it.
func TestRecordedCall(t *testing.T) {
	p := memory(t)
	p.put(t, "net.onnx", readAll(t, "../testdata/golden/models/blackbox.onnx"))
	p.put(t, "rows.csv", rows(300))
	done(t, p.store, "decompose", "--model", p.url("net.onnx"), "--data", p.url("rows.csv"), "--formula", "y ~ x1", "--out", p.url("result"))
	var run struct{ Arguments []string }
	if err := json.Unmarshal(p.get(t, "result/run.json"), &run); err != nil || len(run.Arguments) != 9 || run.Arguments[8] != p.url("result") {
		t.Errorf("%q, %v", run.Arguments, err)
	}
}
