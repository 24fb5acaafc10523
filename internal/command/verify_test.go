package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// An edit is refused by all that read a result, until it is signed; what cannot be
// read is not signed.
func TestVerify(t *testing.T) {
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(40))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ g", "--out", dir)
	doc := read(t, dir, resultdir.Decomposition)
	if o := done(t, "verify", dir); !strings.Contains(o.out, "as written") {
		t.Error(o.out)
	}
	edit := func(old, new string) {
		t.Helper()
		if !strings.Contains(doc, old) {
			t.Fatalf("no %q", old)
		}
		write(t, filepath.Join(dir, resultdir.Decomposition), strings.Replace(doc, old, new, 1))
	}
	edit(`"name": "g"`, `"name": "group"`)
	for _, args := range [][]string{{"verify", dir}, {"report", dir}, {"apply", "--decomposition", dir, "--data", data, "--out", "-"}} {
		if o := call(t, args...); o.status != exitFailed || !strings.Contains(o.err, "pho verify DIR --sign") {
			t.Errorf("pho %q: status %d, %s", args, o.status, o.err)
		}
	}
	if o := done(t, "verify", dir, "--sign"); !strings.Contains(o.out, "signed") {
		t.Error(o.out)
	}
	if o := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"); !strings.Contains(o.out, ",group,") {
		t.Error("the edit is lost")
	}
	done(t, "report", dir)
	edit(`"kind": "factor"`, `"kind": "magic"`)
	before := read(t, dir, resultdir.Decomposition)
	if o := call(t, "verify", dir, "--sign"); o.status != exitFailed || read(t, dir, resultdir.Decomposition) != before {
		t.Errorf("status %d, %s", o.status, o.err)
	}
	if o := call(t, "verify", filepath.Join(temp, "nothing")); o.status != exitFailed {
		t.Errorf("status %d, %s", o.status, o.err)
	}
}
