package command

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// badCase is a call that must fail with exactly this message and leave every
// file as it was. DATA, NET and TEMP in arguments and message stand for the rows,
// the network ssn_op13 and the temporary directory.
type badCase struct {
	name   string
	files  map[string]string
	args   string // after decompose --model NET --data DATA --input x=x0..x4 --out TEMP/out; or a whole call after "pho "
	more   []string
	status int
	want   string
}

func (c *badCase) run(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := strings.NewReplacer("TEMP", temp, "DATA", filepath.Join(temp, "rows.csv"), "NET", golden("ssn_op13"))
	write(t, filepath.Join(temp, "rows.csv"), rows(40))
	earlier := filepath.Join(temp, "earlier") // a result for apply and report, and one to replace
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x4", "--formula", "~ g", "--out", earlier)
	for name, text := range c.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(temp, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(temp, name), text)
	}
	var args []string
	if whole, ok := strings.CutPrefix(c.args, "pho "); ok {
		args = strings.Fields(place.Replace(whole))
	} else {
		args = strings.Fields(place.Replace("decompose --model NET --data DATA --input x=x0..x4 --out TEMP/earlier " + c.args))
	}
	for _, a := range c.more {
		args = append(args, place.Replace(a))
	}
	before := contents(t, temp)
	o := call(t, args...)
	if o.status != c.status {
		t.Errorf("status %d, want %d", o.status, c.status)
	}
	if o.out != "" {
		t.Errorf("standard output: %q", o.out)
	}
	want := "pho: " + place.Replace(c.want) + "\n"
	if c.status == exitUsage {
		want += "Run 'pho --help' or 'pho COMMAND --help' for usage.\n"
	}
	if o.err != want {
		t.Errorf("message\n%s\nwant\n%s", o.err, want)
	}
	if after := contents(t, temp); !maps.Equal(before, after) {
		for file := range after {
			if _, ok := before[file]; !ok {
				t.Errorf("%s was written", file)
			} else if before[file] != after[file] {
				t.Errorf("%s was changed", file)
			}
		}
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

// zipped is text as gzip.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// head is the first n lines of text.
func head(text string, n int) string {
	return strings.Join(strings.SplitAfter(text, "\n")[:n], "")
}

// Data that cannot be read, or do not go with the network or the flags.
func TestBadData(t *testing.T) {
	good := rows(40)
	set := func(line, column int, cell string) string {
		lines := strings.Split(good, "\n")
		cells := strings.Split(lines[line-1], ",")
		cells[column] = cell
		lines[line-1] = strings.Join(cells, ",")
		return strings.Join(lines, "\n")
	}
	const columns = `"x0" "x1" "x2" "x3" "x4" "w" "y" "n" "o" "g" "dow"`
	listed := strings.ReplaceAll(columns, `" "`, `", "`)
	for _, c := range []badCase{
		{name: "no file", args: "TEMP/no.csv", want: `data: cannot read "TEMP/no.csv": no such file or directory`},
		{name: "no match", args: "TEMP/part-*.csv", want: `data: no file matches "TEMP/part-*.csv"`},
		{name: "empty", args: "TEMP/a.csv", files: map[string]string{"a.csv": ""}, want: `data: "TEMP/a.csv" is empty: its first line must name the columns`},
		{name: "other header", args: "TEMP/a.csv", files: map[string]string{"a.csv": "x0,x1\n1,2\n"}, want: `onnx: --input "x=x0..x4": range "x0..x4": there is no column "x2"; did you mean "x0"?`},
		{name: "ragged", args: "TEMP/a.csv", files: map[string]string{"a.csv": head(good, 3) + "1,2,3\n"}, want: `data: "TEMP/a.csv", line 4 (row 3): the row has 3 cells, the header 11; put cells that hold the delimiter in quotes`},
		{name: "NaN", args: "TEMP/a.csv", files: map[string]string{"a.csv": set(7, 2, "NaN")}, want: `data: "TEMP/a.csv", line 7 (row 6), column "x2": cell "NaN" marks a missing value; fill it in, or leave such rows out with --na drop; --na keep lets a model fill them in that can`},
		{name: "infinite", args: "TEMP/a.csv", files: map[string]string{"a.csv": set(7, 2, "-Inf")}, want: `data: "TEMP/a.csv", line 7 (row 6), column "x2": cell "-Inf" is not a finite number; correct it or remove the row`},
		{name: "empty cell", args: "TEMP/a.csv", files: map[string]string{"a.csv": set(8, 0, "")}, want: `data: "TEMP/a.csv", line 8 (row 7), column "x0": cell "" is empty; fill it in, or leave such rows out with --na drop; --na keep lets a model fill them in that can`},
		{name: "text among numbers", args: "TEMP/a.csv", files: map[string]string{"a.csv": set(8, 0, "high")}, want: `onnx: column "x0" holds text ("TEMP/a.csv", line 8: cell "high") and cannot feed input "x", which takes numbers`},
		{name: "duplicate header", args: "TEMP/a.csv", files: map[string]string{"a.csv": strings.Replace(good, "x3", "x1", 1)}, want: `data: "TEMP/a.csv", line 1 (header): columns 2 and 4 are both named "x1"; rename one`},
		{name: "truncated gzip", args: "TEMP/a.csv.gz", files: map[string]string{"a.csv.gz": zipped(good)[:300]}, want: `data: reading "TEMP/a.csv.gz" after row 2: the gzip data is cut off or damaged (unexpected EOF): fetch or compress the file again`},
		{name: "binary", args: "TEMP/a.csv", files: map[string]string{"a.csv": "PK1\x00\x01\n"}, want: `data: "TEMP/a.csv", line 1 (header): the name "PK1\x00\x01" of column 1 holds a control character; is this CSV, with lines that end in \n or \r\n?`},
		{name: "unknown column in formula", more: []string{"--formula", "y ~ x1 + s(age)"}, want: `--formula: formula, character 12: there is no column "age"; the columns are "x0", "x1", "x2", "x3", "x4", "w", "y", "n", "o", "g", ... (11 in all)
  y ~ x1 + s(age)
             ^`},
		{name: "unknown weights", args: "--weights weight", want: `--weights: there is no column "weight"; the columns are [` + columns + `]`},
		{name: "weights are text", args: "--weights g", want: `--weights: column "g" holds text ("DATA", line 2: cell "b"); it must be numbers`},
		{name: "unknown response", args: "--response why", want: `--response: there is no column "why"; the columns are [` + columns + `]`},
		{name: "unknown offset", args: "--offset off", want: `--offset: there is no column "off"; the columns are [` + columns + `]`},
		{name: "unknown factor", args: "--factor day", want: `data: no column "day" in "DATA"; the nearest name is "y"`},
		{name: "unknown column for an input", args: "pho decompose --model NET --data DATA --input x=x0..x3,x9 --out TEMP/out", want: `onnx: --input "x=x0..x3,x9": the data have no column "x9"; they have ` + listed},
		{name: "wrong width", args: "pho decompose --model NET --data DATA --input x=x0,x1 --out TEMP/out", want: `onnx: input "x" [N 5] holds 5 numbers a row, but 2 columns are bound to it ("x0", "x1")`},
		{name: "text feeds an input", args: "pho decompose --model NET --data DATA --input x=x0,x1,x2,x3,g --out TEMP/out", want: `onnx: column "g" holds text ("DATA", line 2: cell "b") and cannot feed input "x", which takes numbers`},
		{name: "which columns", args: "pho decompose --model NET --data DATA --out TEMP/out", want: `onnx: input "x" needs 5 columns and 10 numeric columns are free ("x0", "x1", "x2", "x3", "x4", "w", "y", "n", "o", "dow"); name them with --input x=column,...
  input "x": float [N 5]
  numeric columns: "x0", "x1", "x2", "x3", "x4", "w", "y", "n", "o", "dow"
  text columns: "g"`},
		{name: "unknown input", args: "--input z=x0", want: `onnx: --input "z=x0": the network has no input "z"; it has "x"`},
		{name: "k larger than the data", more: []string{"--formula", `~ s(x3, bs="ps", k=50)`}, want: `term s(x3): column "x3" has 40 distinct values, fewer than k = 50: set k = 40 or less`},
		{name: "constant column in a smooth", args: "TEMP/a.csv", files: map[string]string{"a.csv": constant(good, 3)}, more: []string{"--formula", `~ s(x3, bs="ps")`}, want: `term s(x3): column "x3" has 1 distinct value, 1.5, where k = 10 needs 10: leave the term out`},
		{name: "constant factor", args: "TEMP/a.csv", files: map[string]string{"a.csv": constant(good, 3)}, more: []string{"--formula", "~ factor(x3)"}, want: `term factor(x3): column "x3" has one level only, "1.5": leave the term out`},
		{name: "files of different columns", more: []string{"--data", "TEMP/b.csv"}, files: map[string]string{"b.csv": "x\n1\n"}, want: `data: "TEMP/b.csv" has no column "x0", which "DATA" has: files of one table need the columns of the first`},
		{name: "late text", args: "TEMP/a.csv", files: map[string]string{"a.csv": rows(4200) + "high" + strings.Repeat(",1", 8) + ",a,1\n"}, want: `data: "TEMP/a.csv", line 4202 (row 4201), column "x0": cell "high" is text in a column of numbers; correct it, or hold the column as categories with --factor x0`},
		{name: "negative weights", args: "--weights x0", want: `weights "x0", data row 5: -0.5314589163778007 is not a finite number >= 0 (rows of "TEMP/rows.csv")`},
		{name: "response outside the family", args: "--response y --family binomial", want: `response "y", data row 1: family binomial: response -0.15357025625585516 is outside the support, 0 or 1 or a proportion between them (with the number of trials as the weight) (rows of "TEMP/rows.csv")`},
		{name: "response is no count", args: "--response x0 --family poisson", want: `response "x0", data row 1: family poisson: response 1.032902480041824 is outside the support, the non-negative integers (rows of "TEMP/rows.csv")`},
		{name: "unknown predictor", more: []string{"--formula", "tau = ~ x1"}, want: `decompose: formula for predictor "tau": the model has ["eta"]`},
		{name: "no such term", args: "--sp s(x9)=1", want: `decompose: smoothing parameter for term "s(x9)", which the model does not have`},
		{name: "unseen level", args: "pho apply --decomposition TEMP/earlier --data TEMP/a.csv --out TEMP/applied.csv", files: map[string]string{"a.csv": set(5, 9, "d")}, want: `term g: data row 4: level "d" of column "g" did not occur in the data the term was made from ("a", "b", "c"): leave such rows out, or decompose again on data that have this level (rows of "TEMP/a.csv")`},
		{name: "apply lacks a column", args: "pho apply --decomposition TEMP/earlier --data TEMP/a.csv --out TEMP/applied.csv", files: map[string]string{"a.csv": "x0,x1\n1,2\n"}, want: `data: no column "x2" in "TEMP/a.csv"; the nearest name is "x0"`},
		{name: "apply onto its data", args: "pho apply --decomposition TEMP/earlier --data DATA --out DATA", want: `--out "DATA" is a data file, and would be overwritten: name another file`},
		{name: "apply into the result", args: "pho apply --decomposition TEMP/earlier --data DATA --out TEMP/earlier/contributions.csv", want: `--out "TEMP/earlier/contributions.csv" lies in the decomposition, which holds the training rows' contributions: name a file elsewhere`},
		{name: "apply into no directory", args: "pho apply --decomposition TEMP/earlier --data DATA --out TEMP/no/a.csv", want: `"TEMP/no/a.csv" cannot be written: no such file or directory`},
	} {
		if strings.Contains(c.args, "a.csv") && !strings.HasPrefix(c.args, "pho ") {
			c.args = "pho decompose --model NET --input x=x0..x4 --out TEMP/earlier --data " + c.args
		}
		c.status = exitFailed
		t.Run(c.name, c.run)
	}
}

// constant is text with the same number in all rows of a column.
func constant(text string, column int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines[1:] {
		cells := strings.Split(lines[i+1], ",")
		cells[column] = "1.5"
		lines[i+1] = strings.Join(cells, ",")
	}
	return strings.Join(lines, "\n") + "\n"
}
