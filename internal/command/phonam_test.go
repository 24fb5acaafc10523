package command

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Both variants of PHONAM on networks that PyTorch exported, labelled in the result,
// and applied to rows.
func TestPHONAM(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	for i, c := range []struct{ model, args, columns string }{
		{"nam_pair", "--phonam learned", "intercept f(x0) f(x1) f(x2) f(x3) f(x1,x3) unstructured eta"},
		{"nam_deep_op13", "--phonam spline", "intercept f(x0) f(x1) f(x2) f(x3) s(x0) s(x1) s(x2) s(x3) unstructured eta"},
		{"nam_bmm", "--phonam spline --formula ~s(x1,k=5)", "intercept f(x0) f(x1) f(x2) f(x3) s(x1) unstructured eta"},
		{"nam_bmm", "--phonam learned --sp f(x2)=12", "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
	} {
		data, dir := filepath.Join(temp, c.model+".csv"), filepath.Join(temp, "result"+string(rune('a'+i)))
		goldenRows(t, c.model, data)
		done(t, append([]string{"decompose", "--model", golden(c.model), "--data", data, "--out", dir}, strings.Fields(c.args)...)...)
		header, _ := table(t, dir, resultdir.Contributions)
		if got := strings.Join(header, " "); got != c.columns {
			t.Errorf("%s %s: columns\n%s, want\n%s", c.model, c.args, got, c.columns)
		}
		var doc struct{ PHONAM, Method string }
		if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
			t.Fatal(err)
		}
		if want := strings.Fields(c.args)[1]; doc.PHONAM != want || doc.Method != "phogam" {
			t.Errorf("%s %s: phonam %q, method %q", c.model, c.args, doc.PHONAM, doc.Method)
		}
		if text := read(t, dir, resultdir.Report); !strings.Contains(text, "PHONAM on "+doc.PHONAM+" bases") {
			t.Errorf("%s %s: the report does not say which variant it is", c.model, c.args)
		}
		if o := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"); o.out != read(t, dir, resultdir.Contributions) {
			t.Errorf("%s %s: apply differs", c.model, c.args)
		}
	}
}

func TestPHONAMRefusals(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	goldenRows(t, "ssn_op13", data)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--phonam", "both"}, exitUsage, `--phonam "both": it is learned or spline`},
		{[]string{"--phonam", "spline", "--method", "pho"}, exitUsage, "leave out --method pho"},
		{[]string{"--phonam", "learned"}, exitFailed, "the model has no learned term"},
	} {
		args := append([]string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--out", filepath.Join(temp, "out")}, c.args...)
		if o := call(t, args...); o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: status %d, %s, want %d, %s", slices.Concat(c.args), o.status, o.err, c.status, c.want)
		}
	}
}

// A neural additive model has a projection by default, on the command line and in package
// pho; other networks, and whoever asks for PHO, have none.
func TestPHONAMByDefault(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	for i, c := range []struct{ model, args, phonam, method string }{
		{"nam_deep_op13", "", "learned", "phogam"},
		{"nam_pair", "--formula ~s(x1,k=5)", "learned", "phogam"},
		{"two_heads", "", "learned", "phogam"}, // lines and a learned term
		{"nam_deep_op13", "--method pho", "", "pho"},
		{"nam_deep_op13", "--no-structure --formula ~x0", "", "pho"},
		{"ssn_op13", "", "", "pho"},
	} {
		data, dir := filepath.Join(temp, c.model+".csv"), filepath.Join(temp, "result"+string(rune('a'+i)))
		goldenRows(t, c.model, data)
		done(t, append([]string{"decompose", "--model", golden(c.model), "--data", data, "--out", dir}, strings.Fields(c.args)...)...)
		var doc struct{ PHONAM, Method string }
		if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.PHONAM != c.phonam || doc.Method != c.method {
			t.Errorf("%s %s: phonam %q by method %q, want %q by %q", c.model, c.args, doc.PHONAM, doc.Method, c.phonam, c.method)
		}
		if c.args != "" {
			continue
		}
		rows, err := pho.OpenRows(data)
		if err != nil {
			t.Fatal(err)
		}
		d, err := pho.Decompose(t.Context(), golden(c.model), rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if d.Result.PHONAM != c.phonam || string(d.Result.Method) != c.method {
			t.Errorf("%s: in package pho phonam %q by method %q", c.model, d.Result.PHONAM, d.Result.Method)
		}
	}
}
