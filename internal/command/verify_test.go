package command

import (
	"os"
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

// Contributions that are not as they were written are refused by all that read them, in either format; others are fine.
func TestVerifyContributions(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(40))
	for format, name := range map[string]string{"csv": resultdir.Contributions, "parquet": resultdir.Parquet} {
		dir := filepath.Join(temp, format)
		done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ g", "--out", dir, "--contributions", format)
		if o := done(t, "verify", dir); !strings.Contains(o.out, "the contributions") {
			t.Error(o.out)
		}
		done(t, "explain", dir, "--row", "3")
		text := []byte(read(t, dir, name))
		text[len(text)/2] ^= 1
		write(t, filepath.Join(dir, name), string(text))
		for _, args := range [][]string{{"verify", dir}, {"verify", dir, "--sign"}, {"explain", dir, "--row", "3"}} {
			if o := call(t, args...); o.status != exitFailed || !strings.Contains(o.err, "the contributions of its rows are not as they were written") {
				t.Errorf("pho %q: status %d, %s", args, o.status, o.err)
			}
		}
		if err := os.Remove(filepath.Join(dir, resultdir.Run)); err != nil {
			t.Fatal(err)
		}
		if o := done(t, "verify", dir); strings.Contains(o.out, "the contributions") {
			t.Error("nothing is known of them:", o.out)
		}
	}
}

// A term that is called like another part of a row is refused at once, by whoever makes one.
func TestNamesOfParts(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	for column, says := range map[string]string{"eta": "the part eta", "intercept": "the part intercept", "unstructured": "the part unstructured", "x0.se": "the standard error of x0"} {
		write(t, data, strings.Replace(rows(60), "x3", column, 1))
		for what, args := range map[string][]string{
			"the network's":  {"decompose", "--model", golden("ssn_op13"), "--input", "x=x0," + column + ",x1,x2,x4"},
			"of the formula": {"decompose", "--model", golden("ssn_op13"), "--input", "x=x0,x1,x2,x4,x4", "--formula", "~ x0 + `" + column + "`"},
			"trained":        {"train", "--formula", "x1 ~ x0 + `" + column + "`", "--kind", "gam"},
		} {
			out := filepath.Join(temp, "out")
			o := call(t, append(args, "--data", data, "--out", out)...)
			if o.status == exitDone || !strings.Contains(o.err, "is called like "+says) && !strings.Contains(o.err, `is called "eta" like a predictor`) {
				t.Errorf("%s %s: status %d\n%s", what, column, o.status, o.err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s %s: a result is left", what, column)
			}
		}
	}
}
