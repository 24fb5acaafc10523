package command

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

// TestEtaIsONNXRuntimes: eta is what ONNX Runtime computes on the rows (golden cases of
// adapters/onnx), from columns and from an array, in both precisions, and apply repeats
// the contributions.
func TestEtaIsONNXRuntimes(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "golden", "ort")
	var doc struct {
		Cases []struct {
			Name       string
			Rows, Want [][]float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, dir, "cases.json")), &doc); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range doc.Cases {
		if c.Name != "thresholds" && c.Name != "seconds" && c.Name != "seconds_cast" && c.Name != "large_integers" {
			continue
		}
		tried++
		temp := t.TempDir()
		csv, array := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "x.npy")
		text, values := strings.Builder{}, []float64{}
		text.WriteString("x\n")
		for _, row := range c.Rows {
			fmt.Fprintf(&text, "%.17g\n", row[0])
			values = append(values, row[0])
		}
		write(t, csv, text.String())
		writeArray(t, array, fmt.Sprintf("(%d, 1)", len(values)), values)
		for _, precision := range []string{wiring.Double, wiring.Single} {
			for i, input := range [][]string{{"--data", csv}, {"--input", "x=@" + array}} {
				out := filepath.Join(temp, fmt.Sprint(precision, i))
				done(t, append([]string{"decompose", "--model", filepath.Join(dir, c.Name+".onnx"), "--precision", precision, "--out", out}, input...)...)
				header, records := table(t, out, resultdir.Contributions)
				eta := len(header) - 1
				for r, want := range c.Want {
					if got := number(t, records[r][eta]); !(math.Abs(got-want[0]) <= 1e-6*math.Max(1, math.Abs(want[0]))) {
						t.Fatalf("%s, %s, %s, row %d: eta is %v, of ONNX Runtime %v", c.Name, precision, input, r+1, got, want[0])
					}
				}
				again := done(t, append([]string{"apply", "--decomposition", out, "--out", "-"}, input...)...).out
				if again != read(t, out, resultdir.Contributions) {
					t.Errorf("%s, %s, %s: apply gives other contributions", c.Name, precision, input)
				}
			}
		}
	}
	if tried != 4 {
		t.Errorf("%d cases", tried)
	}
}
