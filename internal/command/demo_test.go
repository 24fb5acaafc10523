package command

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// The demo finds the functions behind its data, says where the reports lie, and
// writes the same bytes when it is run again.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	o := done(t, "demo", "--out", dir)
	if o.err != "" {
		t.Errorf("standard error: %q", o.err)
	}
	for _, r := range o.out {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("the text holds %q", r)
		}
	}
	for _, name := range []string{"ssn", "nam"} {
		checkResult(t, filepath.Join(dir, name), 5000)
		if report := filepath.Join(dir, name, resultdir.Report); !strings.Contains(o.out, report) {
			t.Errorf("the text does not name %s", report)
		}
		p := document(t, filepath.Join(dir, name))["predictors"].([]any)[0].(map[string]any)
		v := p["variance"].(map[string]any)
		if share := v["structured"].(float64) / v["total"].(float64); share < 0.95 {
			t.Errorf("%s: the structured part explains %v", name, share)
		}
		if miss := p["reconstruction_error"].(float64); miss > 1e-9 {
			t.Errorf("%s: reconstruction error %v", name, miss)
		}
	}
	var before, after []string
	for _, line := range strings.Split(o.out, "\n") {
		if f := strings.Fields(line); len(f) == 11 && f[0] == "before" {
			before = f[1:]
		} else if len(f) == 11 && f[0] == "after" {
			after = f[1:]
			for j := range after {
				if b, a := number(t, before[j]), number(t, after[j]); a > b+0.01 {
					t.Errorf("x%d: %v from the truth after, %v before", j, a, b)
				}
			}
		}
	}
	if after == nil {
		t.Error("no comparison with the truth")
	}
	files := contents(t, dir)
	again := done(t, "demo", "--out", dir)
	if again.out != o.out {
		t.Error("the second time it says something else")
	}
	for name, text := range contents(t, dir) {
		if text != files[name] && !strings.HasSuffix(name, resultdir.Run) {
			t.Errorf("the second time %s differs", name)
		}
	}
}

// The demo writes into nobody's directory.
func TestDemoRefuses(t *testing.T) {
	temp := t.TempDir()
	foreign, own, file := filepath.Join(temp, "foreign"), filepath.Join(temp, "own"), filepath.Join(temp, "file")
	for _, dir := range []string{foreign, own} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(foreign, "thesis.tex"), "")
	write(t, filepath.Join(own, "data.csv"), "somebody's")
	write(t, file, "")
	before := contents(t, temp)
	for dir, want := range map[string]string{
		foreign:                    `holds "thesis.tex", which is not part of the demo: give an empty or a new directory`,
		own:                        `is neither empty nor an earlier demo: give an empty or a new directory`,
		file:                       `not a directory: give a directory`,
		filepath.Join(file, "sub"): `not a directory: give a directory`,
		"/proc/pho-demo":           `cannot be written: no such file or directory`,
	} {
		o := call(t, "demo", "--out", dir)
		if o.status != exitFailed || !strings.HasPrefix(o.err, `pho: --out "`+dir+`"`) || !strings.HasSuffix(o.err, want+"\n") || o.out != "" {
			t.Errorf("status %d, %s%s", o.status, o.err, o.out)
		}
	}
	if !maps.Equal(before, contents(t, temp)) {
		t.Error("files changed")
	}
}
