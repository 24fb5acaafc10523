package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// TestNewRowsAreReadAsThen: a column that was text when the network was decomposed is text in
// new rows whose cells are all digits, for terms and for inputs of text.
func TestNewRowsAreReadAsThen(t *testing.T) {
	dir := t.TempDir()
	net, out := filepath.Join(dir, "net.onnx"), filepath.Join(dir, "result")
	model(t, net, 1, func(b *onnxpb.Builder) { b.AddNode("Identity", []string{"x"}, "y") })
	var all, digits strings.Builder
	all.WriteString("x,g\n")
	digits.WriteString("x,g\n")
	for i := range 60 {
		fmt.Fprintf(&all, "%d,%s\n", i%7, []string{"01", "1", "a"}[i%3])
		fmt.Fprintf(&digits, "%d,%s\n", i%7, []string{"01", "1"}[i%2])
	}
	rows, fresh := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "fresh.csv")
	write(t, rows, all.String())
	write(t, fresh, digits.String())
	done(t, "decompose", "--model", net, "--data", rows, "--formula", "~ g", "--no-structure", "--out", out)
	done(t, "explain", out, "--data", fresh)
	done(t, "apply", "--decomposition", out, "--data", fresh, "--out", filepath.Join(dir, "again.csv"))
	done(t, "monitor", out, "--data", fresh, "--period", "a", "--state", filepath.Join(dir, "state"))

	// Nothing but a flag tells of a column of digits in the first rows.
	done(t, "decompose", "--model", net, "--data", fresh, "--formula", "~ g", "--no-structure", "--text", "g", "--out", out)
	if effects := read(t, out, resultdir.Effects); !strings.Contains(effects, "01") {
		t.Errorf("no level 01: %.500s", effects)
	}
	if o := call(t, "decompose", "--model", net, "--data", fresh, "--formula", "~ g", "--text", "gg", "--out", out); o.status != exitFailed || !strings.Contains(o.err, `no column "gg" in the data; the nearest name is "g"`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}
}

// TestWrittenOtherwise: decimal commas and marks of missing cells are read if a flag says so.
func TestWrittenOtherwise(t *testing.T) {
	dir := t.TempDir()
	net := filepath.Join(dir, "net.onnx")
	model(t, net, 1, func(b *onnxpb.Builder) { b.AddNode("Identity", []string{"x"}, "y") })
	rows := filepath.Join(dir, "rows.csv")
	write(t, rows, ";x\n1;0,5\n2;?\n3;1,25\n4;2,5\n")
	out := filepath.Join(dir, "result")
	done(t, "decompose", "--model", net, "--data", rows, "--decimal", ",", "--na-values", "?", "--na", "drop", "--no-structure", "--out", out)
	if _, cells := table(t, out, resultdir.Contributions); len(cells) != 4 || cells[0][len(cells[0])-1] != "0.5" || cells[2][len(cells[2])-1] != "1.25" {
		t.Errorf("%q", cells)
	}
	for _, c := range []struct{ flag, want string }{
		{"--decimal=;", "it is a comma or a point"},
		{"--decimal=,|--delimiter=,", "a comma cannot be both"},
	} {
		args := append([]string{"decompose", "--model", net, "--data", rows, "--out", out}, strings.Split(c.flag, "|")...)
		if o := call(t, args...); o.status != exitUsage || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: status %d: %s", c.flag, o.status, o.err)
		}
	}
}
