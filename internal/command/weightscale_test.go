package command

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Weights matter by their ratios: likelihood and remainder do not change if all weights are multiplied
// by a power of two, which rounds no sum.
func TestScaleOfWeights(t *testing.T) {
	temp := t.TempDir()
	lines := strings.Split(strings.TrimSpace(rows(800)), "\n")
	result := func(scale float64) (gains []float64, remainder string) {
		var csv strings.Builder
		csv.WriteString(lines[0] + ",wt,r\n")
		for i, line := range lines[1:] {
			fmt.Fprintf(&csv, "%s,%g,%g\n", line, float64(1+i%3)*scale, math.Sin(float64(i)))
		}
		data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, fmt.Sprint(scale))
		write(t, data, csv.String())
		done(t, "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "r ~ x1", "--family", "gaussian", "--weights", "wt", "--out", dir)
		var doc struct {
			Predictors []struct {
				Importance []struct {
					Delta float64 `json:"delta_loglik_per_row"`
				}
				Remainder struct{ Regions json.RawMessage }
			}
		}
		if err := json.Unmarshal([]byte(read(t, dir, "decomposition.json")), &doc); err != nil {
			t.Fatal(err)
		}
		for _, i := range doc.Predictors[0].Importance {
			gains = append(gains, i.Delta)
		}
		return gains, string(doc.Predictors[0].Remainder.Regions)
	}
	want, left := result(1)
	if left == "" || left == "null" || left == "[]" {
		t.Fatal("there is no region to compare")
	}
	for _, scale := range []float64{0x1p-60, 0x1p40} {
		got, regions := result(scale)
		for i, v := range got {
			if math.Abs(v-want[i]) > 1e-9*math.Abs(want[i]) { // rounding of the selection of smoothing parameters
				t.Errorf("weights times %g: gain %d is %g, want %g", scale, i+1, v, want[i])
			}
		}
		if regions != left {
			t.Errorf("weights times %g: regions %s, want %s", scale, regions, left)
		}
	}
}
