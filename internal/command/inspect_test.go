package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// The summary of the file stands once, above the structure; the last line is a command in
// the file's own names that runs.
func TestInspectNext(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	for name, want := range map[string]string{
		"sigmoid":   "--input x=x0..x3 --formula 'y ~ s(x0) + s(x1) + s(x2) + s(x3)' --family binomial --out result",
		"blackbox":  "--input x=x0..x3 --formula 'y ~ s(x0) + s(x1) + s(x2) + s(x3)' --out result",
		"two_heads": "--input x=x0..x3 --formula 'mu = ~ s(x1) + s(x2) + s(x3)' --formula 'sigma = ~ s(x1) + s(x2) + s(x3)' --out result",
		"nam_only":  "--input x=x0..x3 --response y --out result",
	} {
		o := done(t, "inspect", golden(name))
		lines := strings.Split(strings.TrimSpace(o.out), "\n")
		if got := lines[len(lines)-1]; !strings.HasSuffix(got, " --data rows.csv "+want) {
			t.Errorf("%s: next is\n%s\nwant ... %s", name, got, want)
		}
		if n := strings.Count(o.out, "written by pytorch"); n != 1 {
			t.Errorf("%s: the summary stands %d times:\n%s", name, n, o.out)
		}
		if name == "sigmoid" || name == "nam_only" { // rows have no response of ones and zeros
			continue
		}
		data := filepath.Join(temp, name+".csv")
		goldenRows(t, name, data)
		words := strings.NewReplacer("rows.csv", data, "--out result", "--out "+filepath.Join(temp, name), "'y ~", "'~").Replace(lines[len(lines)-1])
		done(t, shellSplit(words)[1:]...)
	}
}

// Of many columns none is left out in silence: a dot stands for them, and the command runs.
func TestInspectNextOfManyColumns(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 15)
	var w []float64
	for i := range 15 * 4 {
		w = append(w, math.Sin(float64(i)))
	}
	b.AddInit("w", []int{15, 4}, w...)
	b.AddInit("v", []int{4, 1}, 1, -1, 2, 0.5)
	b.AddNode("MatMul", []string{"x", "w"}, "h")
	b.AddNode("Tanh", []string{"h"}, "u")
	b.AddNode("MatMul", []string{"u", "v"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(temp, "net.onnx"), string(raw))
	o := done(t, "inspect", filepath.Join(temp, "net.onnx"))
	if !strings.HasSuffix(strings.TrimSpace(o.out), " --input x=x0..x14 --formula 'y ~ .' --out result") || !strings.Contains(o.out, "the dot is a term of each of them") {
		t.Errorf("next is\n%s", o.out)
	}
	var rows strings.Builder
	for j := range 15 {
		fmt.Fprintf(&rows, "x%d,", j)
	}
	rows.WriteString("y\n")
	for i := range 400 {
		for j := range 16 {
			fmt.Fprintf(&rows, "%.3f%c", math.Sin(float64(i*(j+2))), ",\n"[j/15])
		}
	}
	write(t, filepath.Join(temp, "rows.csv"), rows.String())
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	words := strings.NewReplacer("rows.csv", filepath.Join(temp, "rows.csv"), "--out result", "--out "+filepath.Join(temp, "out")).Replace(lines[len(lines)-1])
	done(t, shellSplit(words)[1:]...)
}

// shellSplit splits a line at spaces that are not in single quotes.
func shellSplit(line string) []string {
	var words []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Names that a shell or a formula would take for something else are quoted.
func TestInspectQuotes(t *testing.T) {
	for name, want := range map[string]string{"x1": "x1", "a.b_2": "a.b_2", "2x": "`2x`", "a b": "`a b`", "a`b": "`a\\`b`", "é": "`é`"} {
		if got := quoteColumn(name); got != want {
			t.Errorf("column %s: %s, want %s", name, got, want)
		}
	}
	for word, want := range map[string]string{"net.onnx": "net.onnx", "my net.onnx": "'my net.onnx'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		if got := shellWord(word); got != want {
			t.Errorf("word %s: %s, want %s", word, got, want)
		}
	}
}

// A family in the file that there is not is told by inspect, and refused by decompose with the
// place where it stands.
func TestInspectFamily(t *testing.T) {
	temp := t.TempDir()
	network, data := filepath.Join(temp, "net.onnx"), filepath.Join(temp, "rows.csv")
	model(t, network, 2, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 1}, 1, 2)
		b.AddNode("MatMul", []string{"x", "w"}, "y")
		text, err := (&onnx.Response{Column: "g", Family: "skellam"}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		b.AddMetadata(onnx.MetadataResponse, text)
	})
	if err := os.WriteFile(data, []byte("x1,x2,g\n1,2,3\n2,1,4\n3,3,1\n0,1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := done(t, "inspect", network)
	for _, want := range []string{`response "g", family skellam: what the file says it was trained for (pho.response)`, "decompose will refuse that", "--response g"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	bad := call(t, "decompose", "--model", network, "--data", data, "--out", filepath.Join(temp, "result"), "--response", "g")
	for _, want := range []string{"--family: ", `the metadata entry "pho.response" of the network's file says that it was trained for "skellam"`, "name another family"} {
		if bad.status == exitDone || !strings.Contains(bad.err, want) {
			t.Errorf("status %d, no %q in\n%s", bad.status, want, bad.err)
		}
	}
}

// docs/inspect.md lists every field of the JSON, and no test can forget one: they are those
// of the types.
func TestInspectFields(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range jsonFields(reflect.TypeFor[description](), map[reflect.Type]bool{}) {
		if !strings.Contains(string(page), "`"+field+"`") && !strings.Contains(string(page), "`"+field+"[]`") {
			t.Errorf("docs/inspect.md does not tell the field %q", field)
		}
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(done(t, "inspect", "--json", golden("two_heads")).out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"file", "opsets", "outputs", "inputs", "predictors", "response", "text", "classes", "next", "notes", "unused"} {
		if _, ok := doc[field]; !ok {
			t.Errorf("the JSON has no field %q", field)
		}
	}
}

// jsonFields are the names of all fields that t is written with.
func jsonFields(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return jsonFields(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	for f := range t.NumField() {
		field := t.Field(f)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() && !field.Anonymous || name == "-" {
			continue
		}
		if name != "" {
			names = append(names, name)
		}
		names = append(names, jsonFields(field.Type, seen)...)
	}
	return names
}
