package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// A range means columns by their order in the data; the result keeps the columns, so that rows
// whose columns stand in another order are read as these were.
func TestRangesOfColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := map[string]string{"x0": "temp", "x1": "hum", "x2": "wind", "x3": "sun", "x4": "rain"}
	text := rows(300)
	header, body, _ := strings.Cut(text, "\n")
	columns := strings.Split(header, ",")
	for i, c := range columns {
		if names[c] != "" {
			columns[i] = names[c]
		}
	}
	in, moved := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "moved.csv")
	write(t, in, strings.Join(columns, ",")+"\n"+body)
	var turned []string
	for _, line := range strings.Split(strings.TrimSpace(strings.Join(columns, ",")+"\n"+body), "\n") {
		cells := strings.Split(line, ",")
		slices.Reverse(cells)
		turned = append(turned, strings.Join(cells, ","))
	}
	write(t, moved, strings.Join(turned, "\n")+"\n")

	decomposed := func(data, input, formula string, more ...string) string {
		out := filepath.Join(dir, "result")
		done(t, append([]string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", input, "--formula", formula, "--out", out}, more...)...)
		return out
	}
	written := read(t, decomposed(in, "x=temp,hum,wind,sun,rain", "~ hum + wind + sun + s(temp) + dow", "--weights", "w"), resultdir.Decomposition)
	ranged := decomposed(in, "x=temp..rain", "~ hum..sun + s(temp) + dow", "--weights", "w")
	if read(t, ranged, resultdir.Decomposition) != written {
		t.Error("a range differs from its columns written out")
	}
	if f := document(t, ranged)["formulas"].([]any)[0]; f != "~ hum + wind + sun + s(temp) + dow" {
		t.Errorf("the result keeps %q", f)
	}
	for _, data := range []string{in, moved} {
		done(t, "apply", "--decomposition", ranged, "--data", data, "--out", filepath.Join(dir, "applied.csv"))
		if read(t, dir, "applied.csv") != read(t, ranged, resultdir.Contributions) {
			t.Errorf("%s: other contributions", data)
		}
	}
	// In the other order it is another range, or none.
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--input", "x=temp..rain"}, `range "temp..rain": "temp" comes after "rain" in the data: write rain..temp`},
		{[]string{"--input", "x=temp,hum,wind,sun,rain", "--formula", "~ hum..sun"}, `range "hum..sun": "hum" comes after "sun" in the data: write sun..hum`},
		{[]string{"--input", "x=temp,hum,wind,sun,rain", "--formula", "~ sum..hum"}, `range "sum..hum": there is no column "sum"; did you mean "sun"?`},
		{[]string{"--input", "x=temp,hum,wind,sun,rain", "--formula", "~ s(sun..hum)"}, `a range stands for several terms`},
	} {
		o := call(t, append([]string{"decompose", "--model", golden("ssn_op13"), "--data", moved, "--out", filepath.Join(dir, "bad")}, c.args...)...)
		if o.status == exitDone || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: status %d: %s", c.args, o.status, o.err)
		}
	}
	// Columns of another role are no terms; an id is none either.
	out := decomposed(in, "x=temp..rain", "y ~ rain..dow", "--weights", "w", "--factor", "dow", "--id", "n")
	if f := document(t, out)["formulas"].([]any)[0]; f != "y ~ rain + o + g + dow" {
		t.Errorf("the result keeps %q", f)
	}
}

func TestRangeOfOneHotColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "x0,x1,x2,x3,x4,clear,mist,storm\n"
	for i, line := range strings.Split(strings.TrimSpace(rows(200)), "\n")[1:] {
		text += strings.Join(strings.Split(line, ",")[:5], ",") + [...]string{",1,0,0\n", ",0,1,0\n", ",0,0,1\n"}[i%3]
	}
	in, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result")
	write(t, in, text)
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", in, "--input", "x=x0..x4", "--formula", "~ onehot(clear..storm)", "--out", out)
	if header, _ := table(t, out, resultdir.Contributions); !slices.Contains(header, "onehot(clear,mist,storm)") {
		t.Errorf("%q", header)
	}
}
