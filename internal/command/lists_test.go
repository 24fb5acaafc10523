package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A column of lists is the input of its name, and gives the bytes that the same numbers as an array give.
func TestListInput(t *testing.T) {
	temp, golden := t.TempDir(), filepath.Join("..", "..", "data", "files", "testdata", "golden")
	place := func(name string) string { return filepath.Join(temp, name) }
	embedding := make([]float64, 256)
	for i := range embedding {
		embedding[i] = float64(i*i%17) / 8
	}
	b := onnxpb.NewBuilder(13)
	b.AddInput("nested", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 3)
	b.AddInput("square", onnxpb.TensorProto_INT64, onnxpb.Rows, 2, 3)
	b.AddInput("number", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddInit("table", []int{256, 1}, embedding...)
	b.AddNode("Gather", []string{"table", "square"}, "embedded")
	b.AddNode("Flatten", []string{"embedded"}, "words")
	b.AddNode("Flatten", []string{"nested"}, "flat")
	b.AddInit("w", []int{6, 1}, 0.01, -0.01, 0.02, 0.005, 0.03, -0.02)
	b.AddInit("v", []int{6, 1}, 1, -1, 2, 0.5, 3, -2)
	b.AddNode("MatMul", []string{"flat", "w"}, "h")
	b.AddNode("Tanh", []string{"h"}, "picture")
	b.AddNode("MatMul", []string{"words", "v"}, "said")
	b.AddNode("Sum", []string{"picture", "said", "number"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, place("net.onnx"), string(raw))
	lists := filepath.Join(golden, "lists_duckdb.parquet")
	table := cellsOf(t, lists, "nested", "square")
	writeArray(t, place("nested.npy"), "(12, 2, 3)", table["nested"])
	writeArray(t, place("square.npy"), "(12, 2, 3)", table["square"])
	rows := []string{"--data", filepath.Join(golden, "lists_duckdb.parquet")}
	arrays := append(rows[:2:2], "--input", "nested=@"+place("nested.npy"), "--input", "square=@"+place("square.npy"))
	decompose := []string{"decompose", "--model", place("net.onnx"), "--formula", "~ number"}

	o := call(t, append(decompose, append(arrays, "--out", place("arrays"))...)...)
	if o.status == 0 {
		t.Fatal("a column and an array of one name went together")
	}
	// The arrays beside a table without lists.
	var numbers strings.Builder
	numbers.WriteString("number\n")
	for _, x := range cellsOf(t, lists, "number")["number"] {
		fmt.Fprintf(&numbers, "%v\n", x)
	}
	write(t, place("rows.csv"), numbers.String())
	arrays[1] = place("rows.csv")
	done(t, append(decompose, append(arrays, "--out", place("arrays"))...)...)
	want := read(t, temp, "arrays", resultdir.Contributions)
	for _, file := range []string{"lists_duckdb.parquet", "lists_polars.arrow", "lists_pages.parquet", "lists_zstd.arrows"} {
		rows[1] = filepath.Join(golden, file)
		done(t, append(decompose, append(rows, "--out", place(file))...)...)
		for _, name := range []string{resultdir.Contributions, resultdir.Moments, resultdir.Decomposition} {
			if read(t, temp, file, name) != read(t, temp, "arrays", name) {
				t.Errorf("%s: %s differs from that of arrays", file, name)
			}
		}
		if o := done(t, append([]string{"apply", "--decomposition", place("arrays"), "--out", "-"}, rows...)...); o.out != want {
			t.Errorf("%s: applied to lists, a result of arrays gives other contributions", file)
		}
		if o := done(t, append([]string{"apply", "--decomposition", place(file), "--out", "-"}, arrays...)...); o.out != want {
			t.Errorf("%s: applied to arrays, a result of lists gives other contributions", file)
		}
		ofLists := done(t, append([]string{"explain", place(file), "--row", "7"}, rows...)...)
		if ofArrays := done(t, append([]string{"explain", place("arrays"), "--row", "7"}, arrays...)...); ofLists.out != ofArrays.out {
			t.Errorf("%s: explained %s, of arrays %s", file, ofLists.out, ofArrays.out)
		}
	}

	for name, c := range map[string]struct{ inputs, want string }{
		"bound":  {"nested=tensor square=square number=number", ""},
		"flat":   {"nested=fixed", ""},
		"turned": {"nested=turned", `column "turned" holds 24 numbers a row, input "nested" [N 2 3] takes 6`},
		"half":   {"square=half", `column "half" holds 3 numbers a row, input "square" [N 2 3] takes 6`},
	} {
		args := append(decompose, "--data", filepath.Join(golden, "lists_snappy.parquet"), "--out", place(name))
		for _, in := range strings.Fields(c.inputs) {
			args = append(args, "--input", in)
		}
		if o := call(t, args...); (o.status == 0) != (c.want == "") || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: status %d, %s, want %q", name, o.status, o.err, c.want)
		}
	}
	for _, role := range []string{"--response", "--weights", "--cluster", "--id", "--predictions"} {
		args := append(decompose, "--data", rows[1], "--out", place("none"), role, "few")
		if role == "--predictions" {
			args = append(args[:1:1], args[3:]...)
		}
		if o := call(t, args...); o.status == 0 || !strings.Contains(o.err, role+`: column "few" holds 7 numbers a row`) {
			t.Errorf("%s of lists: status %d, %s", role, o.status, o.err)
		}
	}
	o = call(t, "decompose", "--model", place("net.onnx"), "--formula", "~ 1", "--data", filepath.Join(golden, "list_unequal.parquet"), "--input", "square=nested", "--out", place("none"))
	want = `row 6, column "nested": cell "a list of 7 numbers" is a row of another shape than the first, of 6 numbers (2 x 3): all rows need one shape; fill shorter ones up, as the network was trained, or leave them out; input "nested" takes [N 2 3]`
	if o.status == 0 || !strings.Contains(o.err, want) {
		t.Errorf("unequal lists: status %d, %s, want %q", o.status, o.err, want)
	}
}

// cellsOf reads columns of a file, tensors row after row.
func cellsOf(t *testing.T, path string, names ...string) map[string][]float64 {
	t.Helper()
	src, err := files.Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	out := map[string][]float64{}
	for b, err := range src.Batches(context.Background(), names) {
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			x, err := b.Numeric(name)
			if err != nil {
				m, err := b.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				x = m.RawMatrix().Data
			}
			out[name] = append(out[name], x...)
		}
	}
	return out
}

// An id that the table of a network does not have is an error with its row, of lists and of arrays alike, and so is a
// number that is no id.
func TestTokenOutside(t *testing.T) {
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	b := onnxpb.NewBuilder(13)
	b.AddInput("few", onnxpb.TensorProto_INT64, onnxpb.Rows, 7, 1)
	b.AddInit("table", []int{2, 1}, 0.5, -1)
	b.AddNode("Gather", []string{"table", "few"}, "embedded")
	b.AddNode("Flatten", []string{"embedded"}, "words")
	b.AddInit("v", []int{7, 1}, 1, -1, 2, 0.5, 3, -2, 1)
	b.AddNode("MatMul", []string{"words", "v"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, place("net.onnx"), string(raw))
	lists := filepath.Join("..", "..", "data", "files", "testdata", "golden", "lists_v2.parquet")
	few := cellsOf(t, lists, "few")["few"]
	writeArray(t, place("few.npy"), "(12, 7)", few)
	at := slices.Index(few, 2)
	for name, rows := range map[string][]string{"lists": {"--data", lists}, "arrays": {"--input", "few=@" + place("few.npy")}} {
		o := call(t, append([]string{"decompose", "--model", place("net.onnx"), "--formula", "~ 1", "--out", place(name)}, rows...)...)
		if want := fmt.Sprintf("index 2 is outside axis 0 of size 2 (data row %d)", at/7+1); o.status == 0 || !strings.Contains(o.err, want) {
			t.Errorf("%s: status %d, %s, want %q", name, o.status, o.err, want)
		}
	}
	o := call(t, "decompose", "--model", place("net.onnx"), "--formula", "~ 1", "--out", place("none"), "--data", lists, "--input", "few=half,half,half,half,half,half,half")
	if o.status == 0 || !strings.Contains(o.err, `column "half" holds 3 numbers a row, input "few" [N 7 1] takes one of each of its columns`) {
		t.Errorf("a list in place of a number: status %d, %s", o.status, o.err)
	}
}
