package command

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// In float32 the network is the same to 1e-4, the artifact says so, and apply follows
// it unless told otherwise.
func TestPrecision(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(500))
	args := func(precision string) []string {
		return []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--precision", precision, "--out", filepath.Join(temp, precision)}
	}
	done(t, args("float64")...)
	done(t, args("float32")...)
	if doc := read(t, temp, "float64", resultdir.Decomposition); strings.Contains(doc, `"precision"`) {
		t.Error("the default precision is written down")
	}
	if doc := read(t, temp, "float32", resultdir.Decomposition); !strings.Contains(doc, `"precision": "float32"`) {
		t.Error("float32 is not written down")
	}
	_, wide := table(t, temp, "float64", resultdir.Contributions)
	_, narrow := table(t, temp, "float32", resultdir.Contributions)
	largest := 0.0
	for i := range wide {
		for j := range wide[i] {
			largest = math.Max(largest, math.Abs(number(t, wide[i][j])-number(t, narrow[i][j])))
		}
	}
	if !(largest > 1e-12 && largest < 1e-3) {
		t.Errorf("contributions in float32 differ by %g", largest)
	}
	apply := func(dir string, more ...string) string {
		return done(t, append([]string{"apply", "--decomposition", filepath.Join(temp, dir), "--data", data, "--out", "-"}, more...)...).out
	}
	if apply("float32") != read(t, temp, "float32", resultdir.Contributions) {
		t.Error("apply does not follow the artifact's precision")
	}
	if got := apply("float32", "--precision", "float64"); got == read(t, temp, "float32", resultdir.Contributions) {
		t.Error("apply --precision float64 is float32")
	}
	if o := call(t, "apply", "--decomposition", filepath.Join(temp, "float32"), "--data", data, "--out", "-", "--precision", "float16"); o.status != exitUsage {
		t.Errorf("float16: status %d", o.status)
	}
}

// Equal work in two directories is equal bytes: the network's path is seen from the
// result.
func TestSameBytesInTwoPlaces(t *testing.T) {
	temp := t.TempDir()
	for _, place := range []string{"a", filepath.Join("deep", "b")} {
		dir := filepath.Join(temp, place)
		mkdir(t, dir)
		write(t, filepath.Join(dir, "net.onnx"), read(t, golden("ssn_op13")))
		write(t, filepath.Join(dir, "rows.csv"), rows(200))
		done(t, "decompose", "--model", filepath.Join(dir, "net.onnx"), "--data", filepath.Join(dir, "rows.csv"), "--input", "x=x0..x4", "--export-onnx", "--out", filepath.Join(dir, "out", "result"))
	}
	for _, name := range resultdir.Files() {
		if name != resultdir.Run && name != resultdir.Parquet && name != resultdir.Surrogate && read(t, temp, "a", "out", "result", name) != read(t, temp, "deep", "b", "out", "result", name) {
			t.Errorf("%s differs", name)
		}
	}
	if doc := document(t, filepath.Join(temp, "a", "out", "result")); doc["model"].(map[string]any)["path"] != "../../net.onnx" {
		t.Errorf("model: %v", doc["model"])
	}
}
