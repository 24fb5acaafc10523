package online_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTritonClient asks by NVIDIA's tritonclient, in the Python that PHO_TRITON_PYTHON names.
func TestTritonClient(t *testing.T) {
	python := os.Getenv("PHO_TRITON_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: PHO_TRITON_PYTHON names no Python with tritonclient[http]")
	}
	a, _ := two(t)
	base := started(t, nil, a)
	parts, names, _ := want(t, a, true)
	rows, of := map[string]any{}, map[string][]*float64{}
	for _, in := range inputs(0, n) {
		rows[in.Name] = in.Data
	}
	for k, name := range names {
		for i := range parts[k] {
			if v := &parts[k][i]; math.IsNaN(*v) {
				of[name] = append(of[name], nil)
			} else {
				of[name] = append(of[name], v)
			}
		}
	}
	text, err := json.Marshal(map[string]any{"rows": rows, "parts": of})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "testdata/triton.py", address(base), "a", file).CombinedOutput(); err != nil || string(out) != "same\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
