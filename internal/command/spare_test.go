package command

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// No output takes the place of what the command reads or needs, by whatever name:
// its own, a link's, a path in other words, another case where the system takes
// these for one.
func TestOutputsSpareInputs(t *testing.T) {
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	net, rowsFile, array, result := place("net.onnx"), place("rows.csv"), place("z.npy"), place("result")
	write(t, net, read(t, golden("ssn_op13")))
	write(t, rowsFile, rows(40))
	write(t, array, "")
	done(t, "decompose", "--model", net, "--data", rowsFile, "--input", "x=x0..x4", "--out", result)
	trained := place("trained")
	mkdir(t, trained)

	aliases := func(path string) []string {
		name := filepath.Base(path)
		symbolic, hard, here := place("symbolic-"+name), place("hard-"+name), filepath.Join(filepath.Dir(path), "result", "..", name)
		if filepath.Dir(path) != temp {
			here = filepath.Join(filepath.Dir(path), ".", name)
		}
		for _, err := range []error{os.Symlink(path, symbolic), os.Link(path, hard)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		all := []string{path, symbolic, hard, here}
		if other := filepath.Join(filepath.Dir(path), strings.ToUpper(name)); exists(other) { // names are alike but for case
			all = append(all, other)
		}
		return all
	}
	apply := []string{"apply", "--decomposition", result, "--data", rowsFile, "--input", "x=@" + array, "--out"}
	var calls [][]string
	for _, path := range []string{
		net, rowsFile, array, place("result", resultdir.Decomposition), place("result", resultdir.Moments), place("result", resultdir.Contributions), place("result", resultdir.Run),
	} {
		for _, out := range aliases(path) {
			calls = append(calls, append(apply[:7:7], "--out", out))
		}
	}
	calls = append(calls, append(apply[:7:7], "--out", place("result", "new.csv")))
	decompose := []string{"decompose", "--model", net, "--data"}
	link := place("link")
	if err := os.Symlink(result, link); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{result, link, filepath.Join(temp, "result", "..", "result")} {
		calls = append(calls,
			append(decompose[:4:4], place("result", resultdir.Contributions), "--out", out),
			append(decompose[:4:4], place("link", resultdir.Contributions), "--out", out),
			append(decompose[:4:4], rowsFile, "--zeta-cache", filepath.Join(out, "zeta"), "--out", out))
	}
	calls = append(calls, append(decompose[:4:4], rowsFile, "--zeta-cache", place("fresh", "zeta"), "--out", place("fresh")))
	train := []string{"train", "--data", rowsFile, "--formula", "y ~ x0", "--kind", "gam", "--out", trained, "--checkpoint"}
	for _, out := range []string{rowsFile, place("symbolic-rows.csv"), place("hard-rows.csv"), place("trained", "state"), place("trained", "..", "trained", "state")} {
		calls = append(calls, append(train[:10:10], out))
	}
	before := contents(t, temp)
	for _, args := range calls {
		o := call(t, args...)
		if o.status != exitFailed || !strings.Contains(o.err, "name a") || !strings.Contains(o.err, "--") {
			t.Errorf("pho %q: status %d, %s", args, o.status, o.err)
		}
	}
	if after := contents(t, temp); !maps.Equal(before, after) {
		t.Error("files changed")
	}

	// The report's files may be links.
	for _, name := range []string{resultdir.Effects, resultdir.Report} {
		for _, to := range []string{net, place("result", resultdir.Moments)} {
			own := read(t, result, name)
			if err := os.Remove(place("result", name)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, place("result", name)); err != nil {
				t.Fatal(err)
			}
			kept := read(t, to)
			if o := call(t, "report", result); o.status != exitFailed || !strings.Contains(o.err, "would be overwritten") {
				t.Errorf("report over %s: status %d, %s", to, o.status, o.err)
			}
			if read(t, to) != kept {
				t.Fatalf("report wrote over %s", to)
			}
			if err := os.Remove(place("result", name)); err != nil {
				t.Fatal(err)
			}
			write(t, place("result", name), own)
		}
	}
}

// What stands behind standard input and output are files too.
func TestStreamsSpareInputs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be compared by path there")
	}
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(40))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", dir)
	before := read(t, data)
	in, err := os.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if o := callWith(t, t.Context(), in, "apply", "--decomposition", dir, "--data", "-", "--out", data); o.status != exitFailed || !strings.Contains(o.err, "is standard input") {
		t.Errorf("status %d, %s", o.status, o.err)
	}
	out, err := os.OpenFile(data, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var said strings.Builder
	if status := run(t.Context(), []string{"apply", "--decomposition", dir, "--data", data, "--out", "-"}, streams{out: out, err: &said}); status != exitFailed {
		t.Errorf("status %d, %s", status, said.String())
	}
	if read(t, data) != before {
		t.Error("the data changed")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
