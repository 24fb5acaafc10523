package main

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// What blocks left behind is ended.
func TestEnd(t *testing.T) {
	left := exec.Command("sleep", "60")
	if err := left.Start(); err != nil {
		t.Skip("SKIPPED: no sleep:", err)
	}
	p := &page{dir: t.TempDir()}
	if err := p.write("server.pid", strconv.Itoa(left.Process.Pid)+"\n"); err != nil {
		t.Fatal(err)
	}
	p.end()
	if err := left.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}

func TestBlocks(t *testing.T) {
	page := "text\n<!-- check -->\n```sh\necho 1\n```\n```sh\nnot run\n```\n<!-- file a/b.csv -->\n```\nx\n```\n<!-- output -->\n```text\n1\n```\n"
	all, err := blocks(page)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if b := all[0]; b.mark != "check" || b.language != "sh" || b.text != "echo 1\n" || b.line != 3 || b.end != 5 {
		t.Errorf("%+v", b)
	}
	if b := all[1]; b.mark != "file" || b.name != "a/b.csv" {
		t.Errorf("%+v", b)
	}
	for _, bad := range []string{"<!-- check -->\ntext\n", "<!-- file -->\n```\n```\n", "<!-- checked -->\n```\n```\n", "```sh\n"} {
		if _, err := blocks(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		same           bool
	}{
		{"edf 5.88  R2 0.9\n", "edf   5.8799 R2 0.9\n\n", true},
		{"edf 5.88", "edf 5.90", false},
		{"rows 400", "rows 401", false}, // a count has no last digit that may differ
		{"p 1.2e-08", "p 1.23e-08", true},
		{"p 1.2e-08", "p 1.4e-08", false},
		{"first\n...\nlast", "first\na\nb\nlast", true},
		{"first\n...\nlast", "first\na\nb", false},
		{"first\n...", "first", true},
		{"see 0.5 in ...", "see 0.5 in /tmp/x1", true},
		{"see 0.5 in ...", "see 0.7 in /tmp/x1", false},
		{"wrote ...", "read x", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
	} {
		if got := compare(c.shown, c.printed); (got == "") != c.same {
			t.Errorf("compare(%q, %q) = %q", c.shown, c.printed, got)
		}
	}
}

func TestBroken(t *testing.T) {
	known := map[string]bool{"docs": true, "docs/a.md": true, "README.md": true, "go.mod": true}
	anchors := map[string]map[string]bool{"docs/a.md": headings(strings.Split("# The `x`, of *y*\n## Twice\n## Twice", "\n")), "README.md": {}}
	for target, good := range map[string]bool{
		"a.md": true, "../README.md": true, "../go.mod": true, "a.md#the-x-of-y": true, "#twice-1": true, "https://x.org/y": true, ".": true,
		"b.md": false, "#twice-2": false, "../README.md#x": false, "/docs/a.md": false, "../../x": false,
	} {
		if why := broken("docs/a.md", target, known, anchors); (why == "") != good {
			t.Errorf("%s: %q", target, why)
		}
	}
}

// FuzzCompare: no page and no output ends the program, and what is printed is itself.
func FuzzCompare(f *testing.F) {
	f.Add("a 1.5 ...\n...\nend", "a 1.52 x\ny\nend")
	f.Add("... 1e-3", "2 3")
	f.Fuzz(func(t *testing.T, shown, printed string) {
		compare(shown, printed)
		if why := compare(printed, printed); why != "" && !strings.Contains(printed, "...") {
			t.Errorf("%q is not itself: %s", printed, why)
		}
		_, _ = blocks(shown)
		headings(prose(shown))
	})
}
