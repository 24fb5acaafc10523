package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/internal/base/revision"
)

// TestReleasedPlans: plans of each release are worked on, with what is recorded in them.
func TestReleasedPlans(t *testing.T) {
	if dir := filepath.Join(released, revision.Release, "plan"); *writeFormats && !exists(dir) {
		place := func(name string) string { return filepath.Join(released, revision.Release, name) }
		part := filepath.Join(t.TempDir(), "part")
		done(t, "plan", "--model", place("trained/model.onnx"), "--data", place("rows.csv"), "--formula", "y ~ s(x3, k=5)", "--interactions", "none", "--shards", "1", "--out", dir)
		done(t, "accumulate", "--plan", dir, "--pass", "scan", "--shard", "0", "--out", part)
		done(t, "plan", "--plan", dir, "--scan", part)
	}
	for _, from := range releases(t) {
		dir := filepath.Join(t.TempDir(), filepath.Base(from))
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		place := func(name string) string { return filepath.Join(dir, name) }
		work := []string{"--plan", place("plan"), "--any-kernel", "--out"}
		done(t, append([]string{"accumulate", "--pass", "fit", "--shard", "0"}, append(work, place("fit"))...)...)
		done(t, append([]string{"solve", "--statistics", place("fit")}, append(work, place("solved"))...)...)
		done(t, append([]string{"accumulate", "--pass", "explain", "--shard", "0"}, append(work, place("explain"))...)...)
		done(t, append([]string{"solve", "--explain", place("explain")}, append(work, place("solved"))...)...)
		done(t, "verify", place("solved"))
	}
}
