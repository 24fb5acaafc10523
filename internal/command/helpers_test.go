package command

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// outcome is what a call of the command left behind.
type outcome struct {
	status   int
	out, err string
}

// call runs the command in this process.
func call(t testing.TB, args ...string) outcome {
	t.Helper()
	return callWith(t, context.Background(), nil, args...)
}

func callWith(t testing.TB, ctx context.Context, stdin io.Reader, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	status := run(ctx, args, streams{in: stdin, out: &out, err: &err})
	if s := err.String() + out.String(); strings.Contains(s, "goroutine ") || strings.Contains(s, "internal error") {
		t.Errorf("pho %q shows its inside:\n%s", args, s)
	}
	return outcome{status, out.String(), err.String()}
}

// done runs the command and expects it to succeed.
func done(t testing.TB, args ...string) outcome {
	t.Helper()
	o := call(t, args...)
	if o.status != exitDone {
		t.Fatalf("pho %q: status %d\n%s", args, o.status, o.err)
	}
	return o
}

// golden is the path of one of the networks that PyTorch exported.
func golden(name string) string {
	return filepath.Join("..", "..", "testdata", "golden", "models", name+".onnx")
}

// goldenRows writes the rows that a golden network comes with, and further
// columns, as CSV.
func goldenRows(t testing.TB, name, path string) {
	t.Helper()
	raw, err := os.ReadFile(strings.TrimSuffix(golden(name), ".onnx") + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Columns []string    `json:"columns"`
		X       [][]float64 `json:"x"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(strings.Join(doc.Columns, ",") + "\n")
	for _, row := range doc.X {
		for j, v := range row {
			if j > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		text.WriteByte('\n')
	}
	write(t, path, text.String())
}

// rows is CSV text of n rows: x0..x4 normal, w in [0.1, 1.1), y, n a count, o an
// offset, g one of a, b, c, and dow in 1..7.
func rows(n int) string {
	random := rand.New(rand.NewPCG(7, 0))
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3,x4,w,y,n,o,g,dow\n")
	for range n {
		sum := 0.0
		for range 5 {
			x := random.NormFloat64()
			sum += x
			fmt.Fprintf(&text, "%g,", x)
		}
		fmt.Fprintf(&text, "%g,%g,%d,%g,%c,%d\n", 0.1+random.Float64(), sum+random.NormFloat64(),
			random.IntN(5), random.Float64(), 'a'+rune(random.IntN(3)), 1+random.IntN(7))
	}
	return text.String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// table reads a CSV file: its header and its records.
func table(t testing.TB, path ...string) (header []string, records [][]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(read(t, path...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:]
}

// document reads decomposition.json without any of our types.
func document(t testing.TB, dir string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// contents lists a directory's files with their bytes, hidden ones included.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files[path] = ""
		if e.Type().IsRegular() {
			files[path] = read(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// model writes the network that nodes build around input x [N, width] and
// output y.
func model(t testing.TB, path string, width int, nodes func(b *onnxpb.Builder)) {
	t.Helper()
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, width)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil // as inferred
	nodes(b)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(raw))
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
