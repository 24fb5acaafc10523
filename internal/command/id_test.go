package command

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// namedRows are rows whose first column is an id, of which some cells need quotes, and all of
// them would be other numbers than they are texts.
func namedRows(n int) (text string, ids []string) {
	lines := strings.Split(strings.TrimSuffix(rows(n), "\n"), "\n")
	out := []string{"rid," + lines[0]}
	for i, line := range lines[1:] {
		id := fmt.Sprintf("%06d", 3*i)
		cell := id
		if i == 5 {
			id, cell = `5, "five"`, `"5, ""five"""`
		}
		if i == 6 {
			id, cell = "9007199254740993", "9007199254740993" // float64 has no such number
		}
		ids = append(ids, id)
		out = append(out, cell+","+line)
	}
	return strings.Join(out, "\n") + "\n", ids
}

func firstColumn(records [][]string) (out []string) {
	for _, r := range records {
		out = append(out, r[0])
	}
	return out
}

func TestIDNamesRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, ids := namedRows(300)
	in, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result")
	write(t, in, text)
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", in, "--formula", "~ s(x1)"}
	bound := append(args, "--input", "x=x0..x4")
	done(t, append(bound, "--id", "rid", "--out", out)...)
	header, records := table(t, out, resultdir.Contributions)
	if header[0] != "rid" || !slices.Equal(firstColumn(records), ids) {
		t.Errorf("header %q, ids %.60q", header, firstColumn(records))
	}

	// Everything but the names is as without them.
	plain := filepath.Join(dir, "plain")
	done(t, append(bound, "--out", plain)...)
	plainHeader, plainRecords := table(t, plain, resultdir.Contributions)
	if !slices.Equal(plainHeader, header[1:]) {
		t.Errorf("header %q, without ids %q", header, plainHeader)
	}
	for i := range plainRecords {
		if !slices.Equal(plainRecords[i], records[i][1:]) {
			t.Fatalf("row %d differs", i+1)
		}
	}
	if read(t, out, resultdir.Effects) != read(t, plain, resultdir.Effects) || read(t, out, resultdir.Moments) != read(t, plain, resultdir.Moments) {
		t.Error("ids change effects or moments")
	}

	// The rows of the largest remainder have their names.
	doc := document(t, out)
	if doc["id"] != "rid" {
		t.Errorf("id %v", doc["id"])
	}
	remainder := doc["predictors"].([]any)[0].(map[string]any)["remainder"].(map[string]any)
	for _, r := range remainder["rows"].([]any) {
		row := r.(map[string]any)
		if at := int(row["row"].(float64)) - 1; row["id"] != ids[at] {
			t.Errorf("row %d is called %v, not %q", at+1, row["id"], ids[at])
		}
	}
	if page := read(t, out, resultdir.Report); !strings.Contains(page, " (row ") {
		t.Error("the report does not name rows")
	}

	// New rows, and Parquet.
	again, pq := filepath.Join(dir, "again.csv"), filepath.Join(dir, "again.parquet")
	done(t, "apply", "--decomposition", out, "--data", in, "--id", "rid", "--out", again)
	if read(t, again) != read(t, out, resultdir.Contributions) {
		t.Error("apply writes something else")
	}
	done(t, "apply", "--decomposition", plain, "--data", in, "--id", "rid", "--out", pq)
	checkParquetIDs(t, pq, ids, header)
	parquetOut := filepath.Join(dir, "parquet")
	done(t, append(bound, "--id", "rid", "--contributions", "parquet", "--out", parquetOut)...)
	checkParquetIDs(t, filepath.Join(parquetOut, resultdir.Parquet), ids, header)

	// Numbers that the network reads are numbers.
	done(t, "apply", "--decomposition", out, "--data", in, "--id", "dow", "--out", again)
	if _, records := table(t, again); records[0][0] == "" || strings.Contains(records[0][0], ".") {
		t.Errorf("%q", records[0])
	}
	done(t, "apply", "--decomposition", out, "--data", in, "--id", "x3", "--out", pq)
	src, err := parquet.Open([]string{pq}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := src.Schema().Lookup("x3"); !c.Numeric {
		t.Error("x3, which the network reads, is text")
	}
	src.Close()

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--id", "ride"}, `the nearest name is "rid"`},
		{[]string{"--id", "x1"}, `--id: report: the column "x1", which is to name rows, is called like one of the contributions`},
	} {
		if o := call(t, append(append(bound, c.args...), "--out", filepath.Join(dir, "bad"))...); o.status != exitFailed || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: status %d: %s", c.args, o.status, o.err)
		}
		if o := call(t, append([]string{"apply", "--decomposition", out, "--data", in, "--out", "-"}, c.args...)...); o.status != exitFailed || o.out != "" || !strings.Contains(o.err, c.want) {
			t.Errorf("apply %v: status %d: %s%s", c.args, o.status, o.out, o.err)
		}
	}
}

func checkParquetIDs(t *testing.T, path string, ids, header []string) {
	t.Helper()
	src, err := parquet.Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if names := src.Schema().Names(); !slices.Equal(names, header) {
		t.Errorf("columns %q", names)
	}
	var got []string
	for b, err := range src.Batches(t.Context(), []string{"rid"}) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.Texts("rid")
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			got = append(got, text(i))
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("%s: ids %.80q", path, got)
	}
}

// An id is no input: a network of unnamed inputs is bound to the other columns. Numbers of
// 20 digits would not be what they are.
func TestIDIsNoInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "rid,x0,x1,x2,x3,x4\n"
	for i, line := range strings.Split(strings.TrimSpace(rows(200)), "\n")[1:] {
		text += fmt.Sprintf("%d,%s\n", i, strings.Join(strings.Split(line, ",")[:5], ","))
	}
	in := filepath.Join(dir, "rows.csv")
	write(t, in, text)
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", in}
	if o := call(t, append(args, "--out", filepath.Join(dir, "without"))...); o.status != exitFailed {
		t.Error("six columns for five numbers")
	}
	out := filepath.Join(dir, "result")
	done(t, append(args, "--id", "rid", "--formula", "~ . + s(x1)", "--out", out)...)
	header, _ := table(t, out, resultdir.Contributions)
	if slices.Index(header, "rid") != 0 || slices.ContainsFunc(header[1:], func(n string) bool { return strings.Contains(n, "rid") }) {
		t.Errorf("%q", header)
	}
	// Unless somebody says so.
	o := done(t, append(args, "--id", "rid", "--input", "x=x0,x1,x2,x3,rid", "--out", out)...)
	if in := document(t, out)["model"].(map[string]any)["inputs"].(map[string]any)["x"].([]any); in[4] != "rid" {
		t.Errorf("%v\n%s", in, o.err)
	}
}

// Rows that are left out have no name either.
func TestIDOfRowsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, ids := namedRows(50)
	lines := strings.Split(text, "\n")
	cells := strings.Split(lines[3], ",")
	cells[2] = ""
	lines[3] = strings.Join(cells, ",")
	in := filepath.Join(dir, "rows.csv")
	write(t, in, strings.Join(lines, "\n"))
	for _, format := range []string{"csv", "parquet"} {
		out := filepath.Join(dir, format)
		done(t, "decompose", "--model", golden("ssn_op13"), "--data", in, "--input", "x=x0..x4", "--na", "drop", "--id", "rid", "--contributions", format, "--out", out)
		if format == "parquet" {
			src, err := parquet.Open([]string{filepath.Join(out, resultdir.Parquet)}, &parquet.Options{NA: data.NADrop})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range src.Batches(t.Context(), src.Schema().Names()) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if total, dropped := src.Rows(); total != 50 || dropped != 1 {
				t.Errorf("%d rows, %d of them empty", total, dropped)
			}
			src.Close()
			continue
		}
		_, records := table(t, out, resultdir.Contributions)
		if len(records) != 50 || strings.Join(records[2], "") != "" || records[3][0] != ids[3] {
			t.Errorf("%d records, %q, %q", len(records), records[2], records[3])
		}
	}
}

func TestContributionsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out, plain := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result"), filepath.Join(dir, "plain")
	write(t, in, rows(200))
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", in, "--input", "x=x0..x4", "--response", "y", "--formula", "~ s(x1) + te(x2,x3,k=c(3,3))"}
	done(t, append(args, "--contributions", "none", "--out", out)...)
	done(t, append(args, "--out", plain)...)
	without, with := contents(t, out), contents(t, plain)
	for name, text := range with {
		name = filepath.Base(name)
		got, there := without[filepath.Join(out, name)]
		switch {
		case name == resultdir.Contributions:
			if there {
				t.Error("contributions are written")
			}
		case name == resultdir.Run || name == resultdir.Decomposition || name == resultdir.Report || text == "":
		case got != text:
			t.Errorf("%s differs", name)
		}
	}
	// Nor are values of single rows in what is written: all else is the same.
	full, less := document(t, plain), document(t, out)
	if full["examples"] == nil || less["examples"] != nil {
		t.Error("examples are kept, or are not where they should be")
	}
	samples := 0
	for _, f := range full["features"].([]any) {
		if f := f.(map[string]any); f["sample"] != nil {
			samples++
			delete(f, "sample")
		}
	}
	for _, doc := range []map[string]any{full, less} {
		delete(doc, "examples")
		delete(doc, "sha256")
	}
	if !reflect.DeepEqual(full, less) || samples == 0 {
		t.Errorf("the decompositions differ in more than rows, or none has a sample (%d)", samples)
	}
	if page := read(t, out, resultdir.Report); !strings.Contains(page, "No rows are stored with this result") || strings.Contains(page, `"largest"`) {
		t.Error("the report does not say that it has no rows")
	}
	// What else reads a result does without them.
	done(t, "report", out)
	done(t, "summary", out)
	done(t, "verify", out)
	done(t, "apply", "--decomposition", out, "--data", in, "--out", filepath.Join(dir, "c.csv"))
	if read(t, dir, "c.csv") != read(t, plain, resultdir.Contributions) {
		t.Error("apply writes something else")
	}
	if o := call(t, append(args, "--contributions", "nope", "--out", out)...); o.status != exitUsage || !strings.Contains(o.err, "it is csv, parquet or none") {
		t.Errorf("%d %s", o.status, o.err)
	}
}

// A run that fails before the first row writes nothing to standard output; a table without
// rows has its header.
func TestHeaderOnlyWhereItIsTrue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "result")
	text := rows(60)
	write(t, in, text)
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", in, "--input", "x=x0..x4", "--out", out)
	header, _, _ := strings.Cut(text, "\n")
	for _, c := range []struct{ rows, out string }{
		{header + "\n", strings.Split(read(t, out, resultdir.Contributions), "\n")[0] + "\n"},
		{header + "\n" + strings.Repeat(",", 10) + "\n", ""},
		{"x0,x1\n1,2\n", ""},
	} {
		write(t, filepath.Join(dir, "new.csv"), c.rows)
		o := call(t, "apply", "--decomposition", out, "--data", filepath.Join(dir, "new.csv"), "--out", "-")
		if o.out != c.out || (o.status == exitDone) != (c.out != "") {
			t.Errorf("%q: status %d, %q, %s", c.rows, o.status, o.out, o.err)
		}
		file := filepath.Join(dir, "new.parquet")
		o = call(t, "apply", "--decomposition", out, "--data", filepath.Join(dir, "new.csv"), "--out", file)
		if (o.status == exitDone) != (c.out != "") {
			t.Errorf("%q: status %d, %s", c.rows, o.status, o.err)
		}
	}
}
