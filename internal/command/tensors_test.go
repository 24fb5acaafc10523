package command

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	image2 "image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/data/parquet"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// writeArray writes an array of float64 in NumPy's format.
func writeArray(t testing.TB, path, shape string, values []float64) {
	t.Helper()
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	if err := binary.Write(&b, binary.LittleEndian, uint16(len(header))); err != nil {
		t.Fatal(err)
	}
	b.WriteString(header)
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	write(t, path, b.String())
}

// columnsOf reads columns x0..x{n-1} of a CSV file row by row.
func columnsOf(t testing.TB, path string, n int) []float64 {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var v []float64
	for _, r := range records[1:] {
		for j := range n {
			v = append(v, number(t, r[j]))
		}
	}
	return v
}

// An array as input gives what its columns give, next to a table and alone, and apply
// takes a new array.
func TestTensorInput(t *testing.T) {
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	write(t, place("rows.csv"), rows(300))
	x := columnsOf(t, place("rows.csv"), 5)
	writeArray(t, place("x.npy"), "(300, 5)", x)
	decompose := []string{"decompose", "--model", golden("ssn_op13")}
	done(t, append(decompose, "--data", place("rows.csv"), "--input", "x=x0..x4", "--formula", "~ g", "--out", place("columns"))...)
	done(t, append(decompose, "--data", place("rows.csv"), "--input", "x=@"+place("x.npy"), "--formula", "~ g", "--out", place("array"))...)
	_, want := table(t, place("columns"), resultdir.Contributions)
	header, got := table(t, place("array"), resultdir.Contributions)
	if len(got) != 300 || fmt.Sprint(header) != "[intercept x[0] x[1] x[2] g unstructured eta]" {
		t.Errorf("%d rows of %q", len(got), header)
	}
	for i := range got {
		if strings.Join(got[i], ",") != strings.Join(want[i], ",") {
			t.Fatalf("row %d: %q, by columns %q", i+1, got[i], want[i])
		}
	}
	done(t, append(decompose, "--input", "x=@"+place("x.npy"), "--out", place("alone"))...)

	writeArray(t, place("new.npy"), "(7, 5)", x[:35])
	o := done(t, "apply", "--decomposition", place("alone"), "--input", "x=@"+place("new.npy"), "--out", "-")
	if lines := strings.SplitAfter(read(t, place("alone"), resultdir.Contributions), "\n"); o.out != strings.Join(lines[:8], "") {
		t.Errorf("apply on an array:\n%s", o.out)
	}
	told := explainJSON(t, place("alone"), "--input", "x=@"+place("new.npy"), "--row", "3")
	if terms := told.Rows[0].Predictors[0].Terms; terms[0].SE == nil {
		t.Errorf("an array is explained without standard errors: %+v", terms)
	}
	writeArray(t, place("short.npy"), "(299, 5)", x[:299*5])
	writeArray(t, place("narrow.npy"), "(300, 4)", x[:1200])
	for _, c := range []struct{ input, want string }{
		{"x=@" + place("short.npy"), `pho: data: "` + place("rows.csv") + `" has 300 rows, "` + place("short.npy") + `" has 299 rows: what is joined row by row needs equally many` + "\n"},
		{"x=@" + place("narrow.npy"), `pho: --input "x=@` + place("narrow.npy") + `": the array holds 4 numbers a row, input "x" takes 5` + "\n"},
		{"z=@" + place("x.npy"), `pho: --input "z=@` + place("x.npy") + `": the network has no input "z"; it has ["x"]` + "\n"},
		{"x=@" + place("none.npy"), `none.npy": no such file or directory` + "\n"},
	} {
		o := call(t, append(decompose, "--data", place("rows.csv"), "--input", c.input, "--formula", "~ g", "--out", place("bad"))...)
		if o.status != exitFailed || !strings.HasSuffix(o.err, c.want) {
			t.Errorf("%s: status %d\n%swant\n%s", c.input, o.status, o.err, c.want)
		}
	}
	if o := call(t, "apply", "--decomposition", place("columns"), "--data", place("rows.csv"), "--input", "x=x0..x4", "--out", "-"); o.status != exitUsage {
		t.Errorf("apply with columns: status %d, %s", o.status, o.err)
	}
}

// An input of more than one axis takes an array of as many.
func TestImageInput(t *testing.T) {
	temp := t.TempDir()
	b := onnxpb.NewBuilder(13)
	b.AddInput("image", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 3)
	b.AddInput("age", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Flatten", []string{"image"}, "flat")
	b.AddInit("w", []int{6, 1}, 1, -1, 2, 0.5, 3, -2)
	b.AddNode("MatMul", []string{"flat", "w"}, "h")
	b.AddNode("Tanh", []string{"h"}, "deep")
	b.AddNode("Add", []string{"deep", "age"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(temp, "net.onnx"), string(raw))
	var image []float64
	var ages strings.Builder
	ages.WriteString("age\n")
	for i := range 40 {
		for e := range 6 {
			image = append(image, float64((i*7+e*3)%11)/10)
		}
		fmt.Fprintf(&ages, "%d\n", 20+i%30)
	}
	writeArray(t, filepath.Join(temp, "image.npy"), "(40, 2, 3)", image)
	write(t, filepath.Join(temp, "rows.csv"), ages.String())
	done(t, "decompose", "--model", filepath.Join(temp, "net.onnx"), "--data", filepath.Join(temp, "rows.csv"),
		"--input", "image=@"+filepath.Join(temp, "image.npy"), "--out", filepath.Join(temp, "result"))
	header, _ := table(t, temp, "result", resultdir.Contributions)
	if header[1] != "age" {
		t.Errorf("contributions %q", header)
	}
	want := read(t, temp, "result", resultdir.Contributions)
	o := done(t, "apply", "--decomposition", filepath.Join(temp, "result"), "--data", filepath.Join(temp, "rows.csv"), "--input", "image=@"+filepath.Join(temp, "image.npy"), "--out", "-")
	if o.out != want {
		t.Error("apply differs from contributions.csv")
	}
	told := explainJSON(t, filepath.Join(temp, "result"), "--data", filepath.Join(temp, "rows.csv"), "--input", "image=@"+filepath.Join(temp, "image.npy"), "--row", "7")
	_, parts := table(t, filepath.Join(temp, "result"), resultdir.Contributions)
	if p := told.Rows[0].Predictors[0]; p.Unstructured != number(t, parts[6][2]) || p.Eta != number(t, parts[6][3]) {
		t.Errorf("explained %+v, contributions %q", p, parts[6])
	}
	if bad := call(t, "explain", filepath.Join(temp, "result"), "--data", filepath.Join(temp, "rows.csv"), "--input", "image=age"); bad.status != exitUsage {
		t.Errorf("explain with columns: status %d, %s", bad.status, bad.err)
	}

	// Before, an array had a column for each number. Such results are read, of columns and of an array.
	var columns strings.Builder
	columns.WriteString("age,image[0],image[1],image[2],image[3],image[4],image[5]\n")
	for i := range 40 {
		v := image[i*6:]
		fmt.Fprintf(&columns, "%d,%g,%g,%g,%g,%g,%g\n", 20+i%30, v[0], v[1], v[2], v[3], v[4], v[5])
	}
	write(t, filepath.Join(temp, "columns.csv"), columns.String())
	done(t, "decompose", "--model", filepath.Join(temp, "net.onnx"), "--data", filepath.Join(temp, "columns.csv"), "--out", filepath.Join(temp, "apart"))
	apart := read(t, temp, "apart", resultdir.Contributions)
	for _, rows := range [][]string{{"--data", filepath.Join(temp, "columns.csv")}, {"--data", filepath.Join(temp, "rows.csv"), "--input", "image=@" + filepath.Join(temp, "image.npy")}} {
		if o := done(t, append([]string{"apply", "--decomposition", filepath.Join(temp, "apart"), "--out", "-"}, rows...)...); o.out != apart {
			t.Errorf("apply %q differs from contributions.csv", rows)
		}
	}
	if text := read(t, temp, "result", "report.html"); strings.Contains(text, "image[") {
		t.Error("the report has the picture's numbers as columns")
	}

	last := make([]float64, len(image)) // channels last: the axis of 2 behind the axis of 3
	for i := range 40 {
		for c := range 2 {
			for p := range 3 {
				last[i*6+p*2+c] = image[i*6+c*3+p]
			}
		}
	}
	turned := filepath.Join(temp, "last.npy")
	writeArray(t, turned, "(40, 3, 2)", last)
	again := []string{"decompose", "--model", filepath.Join(temp, "net.onnx"), "--data", filepath.Join(temp, "rows.csv"), "--out", filepath.Join(temp, "turned"), "--input"}
	if bad := call(t, append(again, "image=@"+turned)...); bad.status != exitFailed || !strings.Contains(bad.err, "the axes are in another order") || !strings.Contains(bad.err, "or name the file "+turned+":nhwc") {
		t.Errorf("channels last: status %d, %s", bad.status, bad.err)
	}
	done(t, append(again, "image=@"+turned+":nhwc")...)
	if read(t, temp, "turned", resultdir.Contributions) != want {
		t.Error("a turned array gives other contributions")
	}
	var named strings.Builder // the same by pictures that a column names
	named.WriteString("age,file\n")
	for i := range 40 {
		m := image2.NewGray(image2.Rect(0, 0, 3, 2))
		for e := range 6 {
			m.Pix[e] = uint8(i*6 + e)
			image[i*6+e] = float64(m.Pix[e]) / 255
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(temp, fmt.Sprintf("p%02d.png", i)), b.String())
		fmt.Fprintf(&named, "%d,p%02d.png\n", 20+i%30, i)
	}
	write(t, filepath.Join(temp, "named.csv"), named.String())
	writeArray(t, filepath.Join(temp, "grey.npy"), "(40, 2, 3)", image)
	for name, input := range map[string]string{"array": "image=@" + filepath.Join(temp, "grey.npy"), "folder": "image=@" + temp + "/{file}"} {
		done(t, "decompose", "--model", filepath.Join(temp, "net.onnx"), "--data", filepath.Join(temp, "named.csv"), "--input", input, "--out", filepath.Join(temp, name))
	}
	want = read(t, temp, "array", resultdir.Contributions)
	if read(t, temp, "folder", resultdir.Contributions) != want {
		t.Error("pictures in a folder give other contributions than their array")
	}
	if o := done(t, "apply", "--decomposition", filepath.Join(temp, "folder"), "--data", filepath.Join(temp, "named.csv"), "--input", "image=@"+temp+"/{file}", "--out", "-"); o.out != want {
		t.Error("apply on a folder differs from contributions.csv")
	}
	if err := os.Remove(filepath.Join(temp, "p07.png")); err != nil {
		t.Fatal(err)
	}
	if bad := call(t, "decompose", "--model", filepath.Join(temp, "net.onnx"), "--data", filepath.Join(temp, "named.csv"), "--input", "image=@"+temp+"/{file}", "--out", filepath.Join(temp, "none")); bad.status != exitFailed || !strings.Contains(bad.err, `data row 8: picture "`+filepath.Join(temp, "p07.png")+`": no such file or directory`) {
		t.Errorf("a missing picture: status %d, %s", bad.status, bad.err)
	}

	raw, err = os.ReadFile(filepath.Join(temp, "image.npy"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(temp, "cut.npy"), string(raw[:len(raw)-5]))
	if bad := call(t, append(again[:len(again)-2:len(again)-2], filepath.Join(temp, "none"), "--input", "image=@"+filepath.Join(temp, "cut.npy"))...); bad.status != exitFailed || !strings.Contains(bad.err, "it is cut off") {
		t.Errorf("truncated: status %d, %s", bad.status, bad.err)
	}
}

// Applied contributions are Parquet if the file's name says so, standard errors too.
func TestApplyParquet(t *testing.T) {
	temp := t.TempDir()
	rowsFile, result := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, rowsFile, rows(200))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", rowsFile, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--out", result)
	for _, more := range [][]string{nil, {"--se"}} {
		for _, out := range []string{"a.csv", "a.Parquet"} {
			done(t, append([]string{"apply", "--decomposition", result, "--data", rowsFile, "--out", filepath.Join(temp, out)}, more...)...)
		}
		header, records := table(t, temp, "a.csv")
		src, err := parquet.Open([]string{filepath.Join(temp, "a.Parquet")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := src.Schema().Names(); fmt.Sprint(got) != fmt.Sprint(header) {
			t.Errorf("columns %q, want %q", got, header)
		}
		for b, err := range src.Batches(t.Context(), header) {
			if err != nil {
				t.Fatal(err)
			}
			for j, name := range header {
				x, err := b.Numeric(name)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range x {
					if v != number(t, records[b.Row(i)][j]) {
						t.Fatalf("%v: row %d, %s: %g, want %s", more, i+1, name, v, records[b.Row(i)][j])
					}
				}
			}
		}
	}
	if raw, _ := os.ReadFile(filepath.Join(temp, "a.Parquet")); !parquet.IsParquet(raw) {
		t.Error("no Parquet")
	}
}

// A level that training did not have is told with its file.
func TestUnseenLevelNamesTheFile(t *testing.T) {
	temp := t.TempDir()
	result := filepath.Join(temp, "result")
	write(t, filepath.Join(temp, "rows.csv"), rows(200))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x4", "--formula", "~ g", "--out", result)
	write(t, filepath.Join(temp, "new.csv"), "x0,x1,x2,x3,x4,g\n1,2,3,4,5,a\n1,2,3,4,5,zebra\n")
	o := call(t, "apply", "--decomposition", result, "--data", filepath.Join(temp, "new.csv"), "--out", "-")
	if o.status != exitFailed || !strings.Contains(o.err, `"zebra"`) || !strings.HasSuffix(o.err, ` (rows of "`+filepath.Join(temp, "new.csv")+"\")\n") {
		t.Errorf("status %d, %s", o.status, o.err)
	}
}
