package command

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// TestBands: --bands and --cluster choose the kind of standard errors, in effects.csv, in
// the artifact, in the report and, from the artifact alone, in apply.
func TestBands(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(400))
	se := map[string]string{}
	for name, flags := range map[string][]string{
		"robust":     nil,
		"said":       {"--bands", "robust"},
		"projection": {"--bands", "projection"},
		"none":       {"--bands", "none"},
		"cluster":    {"--cluster", "dow"},
		"text":       {"--cluster", "g", "--weights", "w"},
	} {
		dir := filepath.Join(temp, name)
		done(t, append([]string{"decompose", "--model", golden("blackbox"), "--data", data, "--input", "x=x0..x3", "--formula", `~ s(x1, bs="ps", k=6) + x2`, "--out", dir}, flags...)...)
		header, records := table(t, dir, resultdir.Effects)
		at, sim := indices(header, "se")[0], indices(header, "upper_sim")[0]
		for _, r := range records {
			if none := name == "none" || r[2] == "before"; (r[at] == "") != none || (r[sim] == "") != none {
				t.Fatalf("%s: %q", name, r)
			}
		}
		se[name] = records[150][at]
		parts := filepath.Join(temp, name+".csv")
		done(t, "apply", "--decomposition", dir, "--data", data, "--se", "--out", parts)
		header, records = table(t, parts)
		if got := records[0][indices(header, "x2.se")[0]]; (got == "") != (name == "none") {
			t.Errorf("%s: standard error of a contribution %q", name, got)
		}
		doc, page := document(t, dir), read(t, dir, resultdir.Report)
		for what, want := range map[string]string{"robust": "robust", "said": "robust", "none": "none", "cluster": "robust", "text": "robust"} {
			if what == name && doc["bands"] != want {
				t.Errorf("%s: bands %v", name, doc["bands"])
			}
		}
		words := map[string]string{"projection": "Projection band", "cluster": "rows of one dow that depend on each other"}[name]
		if name == "projection" && doc["bands"] != nil || !strings.Contains(page, words) || name == "none" && strings.Contains(page, " band</dt>") {
			t.Errorf("%s: bands %v, and the report does not say %q", name, doc["bands"], words)
		}
	}
	if se["robust"] != se["said"] || se["robust"] == se["projection"] || se["robust"] == se["cluster"] {
		t.Errorf("standard errors %v", se)
	}
	for name, text := range se {
		if v, err := strconv.ParseFloat(text, 64); name != "none" && !(err == nil && v > 0) {
			t.Errorf("%s: standard error %q", name, text)
		}
	}
	o := call(t, "decompose", "--model", golden("blackbox"), "--data", data, "--input", "x=x0..x3", "--formula", "~ x2", "--cluster", "shop", "--out", filepath.Join(temp, "bad"))
	if o.status != exitFailed || !strings.Contains(o.err, `no column "shop"`) {
		t.Errorf("status %d, %s", o.status, o.err)
	}
}
