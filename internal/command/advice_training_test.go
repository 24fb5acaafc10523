package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainSpeaksInFlags: messages of training name what can be typed.
func TestTrainSpeaksInFlags(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained")
	trainingRows(t, rows)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--kind", "mlp", "--response", "y", "--deep", "x1,x2", "--learning-rate", "1e300"}, exitFailed, "Lower --learning-rate (1e+300), set --clip-norm, or look for extreme values"},
		{[]string{"--kind", "mlp", "--deep", "x1,x2"}, exitFailed, "no response: give --response COLUMN or write y ~ ... in a formula"},
		{[]string{"--kind", "nam", "--response", "y"}, exitFailed, "a nam needs --features"},
		{[]string{"--formula", "y ~ x1", "--deep", "x1", "--clip-norm", "-1"}, exitUsage, "--clip-norm -1: it is a number >= 0"},
	} {
		o := call(t, append([]string{"train", "--data", rows, "--out", out, "--epochs", "3"}, c.args...)...)
		if o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: status %d, %s\nwant %d, %s", c.args, o.status, o.err, c.status, c.want)
		}
	}
}

// TestTrainTellsOneFaultOnce: a formula with a column that there is not still names its
// response.
func TestTrainTellsOneFaultOnce(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	o := call(t, "train", "--data", rows, "--out", filepath.Join(dir, "trained"), "--formula", "y ~ x1+nope", "--deep", "x1")
	if !strings.Contains(o.err, `there is no column "nope"`) || strings.Contains(o.err, "no response") {
		t.Errorf("%s", o.err)
	}
}

// TestClipNorm: a bound on gradients changes training, and none is none.
func TestClipNorm(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	trained := func(clip ...string) string {
		out := filepath.Join(dir, "out")
		done(t, append([]string{"train", "--data", rows, "--out", out, "--epochs", "2", "--validation", "0", "--formula", "y ~ x1", "--deep", "x2"}, clip...)...)
		return read(t, out, fileNetwork)
	}
	free := trained()
	if trained("--clip-norm", "0.01") == free {
		t.Error("a bound of 0.01 changes nothing")
	}
	if trained("--clip-norm", "0") != free {
		t.Error("a bound of 0 is not none")
	}
}
