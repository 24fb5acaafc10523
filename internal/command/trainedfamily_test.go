package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// TestTrainedFamily: the file of a network names the family of its response, which
// decompose takes unless told otherwise, and says so.
func TestTrainedFamily(t *testing.T) {
	dir := t.TempDir()
	rows, out, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	trainingRows(t, rows)
	model := filepath.Join(out, fileNetwork)
	done(t, "train", "--data", rows, "--out", out, "--epochs", "2", "--family", "poisson", "--formula", "d ~ x1", "--deep", "x2,x3")
	const note = "family poisson: that is what the network's file says it was trained for; --family takes another"
	for name, c := range map[string]struct {
		args   []string
		family string
		note   bool
	}{
		"as trained":    {[]string{"--response", "d"}, "poisson", true},
		"in a formula":  {[]string{"--formula", "d ~ x2"}, "poisson", true},
		"as told":       {[]string{"--response", "d", "--family", "negative-binomial(theta=2)"}, "negative-binomial(theta=2)", false},
		"another":       {[]string{"--response", "b"}, "gaussian", false},
		"none":          {nil, "", false},
		"lines of JSON": {[]string{"--response", "d", "--log", "json"}, "poisson", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := done(t, append([]string{"decompose", "--model", model, "--data", rows, "--out", result}, c.args...)...)
			var doc struct{ Family string }
			readInto(t, filepath.Join(result, resultdir.Decomposition), &doc)
			if doc.Family != c.family {
				t.Errorf("family %q, want %q", doc.Family, c.family)
			}
			if strings.Contains(o.err, note) != c.note {
				t.Errorf("stderr:\n%s", o.err)
			}
		})
	}
	done(t, "train", "--data", rows, "--out", out, "--epochs", "2", "--formula", "y ~ x1", "--deep", "x2")
	if o := done(t, "decompose", "--model", model, "--data", rows, "--out", result, "--response", "y"); strings.Contains(o.err, "the network's file says") {
		t.Errorf("gaussian is nothing to be told:\n%s", o.err)
	}
}
