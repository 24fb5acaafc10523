package command

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// A resident process answers with apply's output, and an error names the flag that helps.
func TestServe(t *testing.T) {
	temp := t.TempDir()
	dir, data := filepath.Join(temp, "result"), filepath.Join(temp, "rows.csv")
	write(t, data, rows(200))
	done(t, "decompose", "--model", golden("blackbox"), "--data", data, "--input", "x=x0..x3", "--formula", "~ s(x1, k=4) + g", "--out", dir)
	header, contributions := table(t, dir, "contributions.csv")
	_, records := table(t, data)

	ask := func(x0 float64) []byte {
		q := `{"id":1,"op":"apply","rows":1,"columns":["x0","x1","x2","x3","g"],"texts":{"g":["` + records[0][9] + `"]}}`
		frame := binary.LittleEndian.AppendUint32(nil, uint32(len(q)))
		frame = append(binary.LittleEndian.AppendUint32(frame, 4*8+4), q...)
		for _, v := range []float64{x0, number(t, records[0][1]), number(t, records[0][2]), number(t, records[0][3])} {
			frame = binary.LittleEndian.AppendUint64(frame, math.Float64bits(v))
		}
		return append(frame, 0, 0, 0, 0)
	}
	var answers []string
	var parts []float64
	for _, x0 := range []float64{number(t, records[0][0]), math.NaN()} {
		o := callWith(t, t.Context(), bytes.NewReader(ask(x0)), "serve", dir, "--stdio")
		if o.status != exitDone || o.err != "" {
			t.Fatalf("status %d, %s", o.status, o.err)
		}
		out := []byte(o.out)
		out = out[8+binary.LittleEndian.Uint32(out):] // behind the greeting
		h := 8 + binary.LittleEndian.Uint32(out)
		answers = append(answers, string(out[8:h]))
		for b := out[h:]; len(b) > 0; b = b[8:] {
			parts = append(parts, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	if len(parts) != len(header) || !strings.Contains(answers[1], `with --na drop`) {
		t.Fatalf("answers %q with %d parts", answers, len(parts))
	}
	for j, v := range parts {
		if v != number(t, contributions[0][j]) {
			t.Errorf("%s is %g, want %s", header[j], v, contributions[0][j])
		}
	}
}
