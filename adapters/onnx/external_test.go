package onnx_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// withExternal is a network y = x w, w of [3 1] floats, with w's data elsewhere: pairs of
// keys and values say where.
func withExternal(t *testing.T, pairs ...string) []byte {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 1}, 1, 2, 3)
	b.AddNode("MatMul", []string{"x", "w"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	w := b.Model().Graph.Initializer[0]
	w.RawData, w.DataLocation = nil, onnxpb.TensorProto_EXTERNAL
	for i := 0; i < len(pairs); i += 2 {
		w.ExternalData = append(w.ExternalData, &onnxpb.StringStringEntryProto{Key: pairs[i], Value: pairs[i+1]})
	}
	raw, err := proto.Marshal(b.Model())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// weightFile holds 4 bytes of something else and then 4, 5 and 6 as floats.
var weightFile = []byte("head\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40")

func product(t *testing.T, g *onnx.Graph) float64 {
	t.Helper()
	e, err := onnx.GoEngine{}.Prepare(g, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	y := [][]float64{make([]float64, 1)}
	if err := e.Run(y, [][]float64{{1, 10, 100}}, 1); err != nil {
		t.Fatal(err)
	}
	return y[0][0]
}

// Data of tensors is read from files in the model's own folder, and every byte of them
// counts in its hash; that of other networks is the file's.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "net.onnx")
	checksum := sha1.Sum(weightFile)
	raw := withExternal(t, "location", "./sub/w.bin", "offset", "4", "length", "12", "checksum", hex.EncodeToString(checksum[:]), "basepath", "ignored")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	place := func(model []byte, weights []byte) {
		t.Helper()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "net.onnx"), model, 0o644), os.WriteFile(filepath.Join(dir, "sub", "w.bin"), weights, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	place(raw, weightFile)
	g, err := onnx.LoadFile(model, &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		t.Fatal(err)
	}
	if y := product(t, g); y != 654 {
		t.Errorf("y is %g", y)
	}
	sum := func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }
	if want := hex.EncodeToString(sum(append(bytes.Clone(raw), sum(weightFile)...))); g.SHA256() != want {
		t.Errorf("sha256 %s, want %s", g.SHA256(), want)
	}
	if kept := g.External(); len(kept) != 1 || !bytes.Equal(kept["sub/w.bin"], weightFile) || !bytes.Equal(g.File(), raw) {
		t.Errorf("kept %v", kept)
	}
	changed := bytes.Clone(weightFile)
	changed[0] = 'H' // which no tensor holds
	place(withExternal(t, "location", "./sub/w.bin", "offset", "4"), weightFile)
	same, err := onnx.LoadFile(model, nil)
	if err != nil {
		t.Fatal(err)
	}
	place(withExternal(t, "location", "./sub/w.bin", "offset", "4"), changed)
	other, err := onnx.LoadFile(model, nil)
	if err != nil {
		t.Fatal(err)
	}
	if other.SHA256() == same.SHA256() || product(t, other) != 654 {
		t.Error("a changed file has the same hash")
	}
	if kept := other.External(); len(kept) != 1 || kept["sub/w.bin"] != nil {
		t.Errorf("not to be kept, and it is: %v", kept)
	}
	// From a reader the folder is an option.
	if g, err = onnx.Load(bytes.NewReader(raw), &onnx.LoadOptions{External: fstest.MapFS{"sub/w.bin": {Data: weightFile}}}); err != nil || product(t, g) != 654 {
		t.Error(err)
	}
	plain, err := os.ReadFile(filepath.Join(zooDir, "networks", "handmade", "opset_8.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if g, err = onnx.Load(bytes.NewReader(plain), nil); err != nil || g.SHA256() != hex.EncodeToString(sum(plain)) || len(g.External()) != 0 {
		t.Errorf("%v, sha256 %s", err, g.SHA256())
	}
}

// Data of tensors in subgraphs and functions, at any depth, is taken in and checked alike.
func TestExternalDataWithin(t *testing.T) {
	weights := &onnxpb.TensorProto{
		Dims: []int64{3, 1}, DataType: int32(onnxpb.TensorProto_FLOAT), DataLocation: onnxpb.TensorProto_EXTERNAL,
		ExternalData: []*onnxpb.StringStringEntryProto{{Key: "location", Value: "w.bin"}, {Key: "offset", Value: "4"}},
	}
	constant := func() (*onnxpb.AttributeProto, error) {
		return &onnxpb.AttributeProto{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: weights}, nil
	}
	multiply := func(x, y string) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.AddNode("Constant", nil, "w", constant)
			b.AddNode("MatMul", []string{x, "w"}, y)
		}
	}
	held := func(x, y string) func(b *onnxpb.Builder) { // w is an initializer of the graph
		return func(b *onnxpb.Builder) {
			w := proto.Clone(weights).(*onnxpb.TensorProto)
			w.Name = "w"
			b.Model().Graph.Initializer = append(b.Model().Graph.Initializer, w)
			b.AddNode("MatMul", []string{x, "w"}, y)
		}
	}
	choice := func(x, y string, body func(x, y string) func(b *onnxpb.Builder)) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNode("If", []string{"yes"}, y, graphtest.Subgraph("then_branch", nil, []string{"a"}, body(x, "a")), graphtest.Subgraph("else_branch", nil, []string{"a"}, body(x, "a")))
		}
	}
	for name, c := range map[string]struct {
		build func(b *onnxpb.Builder)
		where string
	}{
		"If": {choice("x", "y", held), `node "y" (If): attribute "then_branch": initializer "w"`},
		"Loop": {func(b *onnxpb.Builder) {
			graphtest.Number(b, "one", 1)
			graphtest.Truth(b, "yes", 1)
			b.AddNodes("", "Loop", []string{"one", "yes", "x"}, []string{"last", "s"}, graphtest.Subgraph("body", []string{"i", "c", "h"}, []string{"go", "h2", "out"}, func(b *onnxpb.Builder) {
				b.AddNode("Identity", []string{"c"}, "go")
				b.AddNode("Identity", []string{"h"}, "h2")
				multiply("h", "out")(b)
			}))
			b.AddInts("axis", 0)
			b.AddNode("Squeeze", []string{"s", "axis"}, "y")
		}, `node "last" (Loop): attribute "body": node "w" (Constant): attribute "value"`},
		"function": {func(b *onnxpb.Builder) {
			graphtest.Function(b, "F", []string{"x"}, []string{"y"}, multiply("x", "y"))
			b.AddNodes("local", "F", []string{"x"}, []string{"y"})
		}, `function "F": node "w" (Constant): attribute "value"`},
		"If in a function": {func(b *onnxpb.Builder) {
			graphtest.Function(b, "F", []string{"x"}, []string{"y"}, choice("x", "y", multiply))
			b.AddNodes("local", "F", []string{"x"}, []string{"y"})
		}, `function "F": node "y" (If): attribute "then_branch": node "w" (Constant): attribute "value"`},
		"default of a function": {func(b *onnxpb.Builder) {
			f := graphtest.Function(b, "F", []string{"x"}, []string{"y"}, multiply("x", "y"))
			f.AttributeProto = []*onnxpb.AttributeProto{{Name: "of", Type: onnxpb.AttributeProto_TENSOR, T: weights}}
			f.Node[0].Attribute[0] = &onnxpb.AttributeProto{Name: "value", Type: onnxpb.AttributeProto_TENSOR, RefAttrName: "of"}
			b.AddNodes("local", "F", []string{"x"}, []string{"y"})
		}, `function "F": attribute "of"`},
	} {
		b := onnxpb.NewBuilder(13)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
		c.build(b)
		b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		raw := graphtest.Bytes(t, b)
		g, err := onnx.Load(bytes.NewReader(raw), &onnx.LoadOptions{External: fstest.MapFS{"w.bin": {Data: weightFile}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if y := product(t, g); y != 654 {
			t.Errorf("%s: y is %g", name, y)
		}
		_, err = onnx.Load(bytes.NewReader(raw), &onnx.LoadOptions{External: fstest.MapFS{"w.bin": {Data: weightFile[:15]}}})
		want := "onnx: " + c.where + ` stores its data in an external file: bytes 4 to 16 of "w.bin", which has 15: the file is truncated, or belongs to another model`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want\n%s", name, err, want)
		}
	}
}

// A model can name no file but regular ones in its folder, and no bytes but its own.
func TestHostileExternalData(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "model")
	for _, err := range []error{
		os.Mkdir(dir, 0o755), os.Mkdir(filepath.Join(dir, "folder"), 0o755),
		os.WriteFile(filepath.Join(outside, "w.bin"), weightFile, 0o644), os.WriteFile(filepath.Join(dir, "w.bin"), weightFile, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"out": "../w.bin", "absolute": filepath.Join(outside, "w.bin"), "around": "around", "within": "w.bin", "null": "/dev/null"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	elsewhere := " is not in the folder of the model, which alone is read: move the file there and save the model again, or save it with its data inside"
	for _, c := range []struct {
		pairs []string
		want  string // behind "stores its data in an external file: "
		links bool
	}{
		{[]string{"location", "../w.bin"}, `"../w.bin"` + elsewhere, false},
		{[]string{"location", "folder/../../w.bin"}, `"folder/../../w.bin"` + elsewhere, false},
		{[]string{"location", "folder/../w.bin"}, `"folder/../w.bin"` + elsewhere, false},
		{[]string{"location", "/etc/passwd"}, `"/etc/passwd"` + elsewhere, false},
		{[]string{"location", ""}, `""` + elsewhere, false},
		{[]string{"location", "."}, `"."` + elsewhere, false},
		{[]string{"location", "\xff"}, "\"\\xff\"" + elsewhere, false},
		{[]string{"offset", "0"}, "which it does not name", false},
		{[]string{"location", "none.bin"}, "none.bin", false},
		{[]string{"location", "w.bin\x00.txt"}, "w.bin", false},
		{[]string{"location", "folder"}, `"folder" is not a regular file`, false},
		{[]string{"location", "out"}, "path escapes from parent", true},
		{[]string{"location", "absolute"}, "path escapes from parent", true},
		{[]string{"location", "null"}, "path escapes from parent", true},
		{[]string{"location", "around"}, "around", true},
		{[]string{"location", "w.bin", "offset", "-1"}, `its offset "-1" is no number of bytes`, false},
		{[]string{"location", "w.bin", "offset", "1e3"}, `its offset "1e3" is no number of bytes`, false},
		{[]string{"location", "w.bin", "offset", "9223372036854775807"}, `bytes 9223372036854775807 to`, false},
		{[]string{"location", "w.bin", "offset", "9223372036854775808"}, `is no number of bytes`, false},
		{[]string{"location", "w.bin", "offset", "5"}, `bytes 5 to 17 of "w.bin", which has 16: the file is truncated, or belongs to another model`, false},
		{[]string{"location", "w.bin", "length", "16"}, `16 bytes of "w.bin", but its shape and type need 12`, false},
		{[]string{"location", "w.bin", "location", "w.bin"}, `its "location" is given twice`, false},
		{[]string{"location", "w.bin", "checksum", "0"}, `"w.bin" has another SHA-1 than the model says: the file was changed, or belongs to another model`, false},
	} {
		if c.links && runtime.GOOS == "windows" {
			continue
		}
		model := filepath.Join(dir, "net.onnx")
		raw := withExternal(t, "location", "LOCATION")
		m := &onnxpb.ModelProto{}
		if err := proto.Unmarshal(raw, m); err != nil {
			t.Fatal(err)
		}
		m.Graph.Initializer[0].ExternalData = nil
		for i := 0; i < len(c.pairs); i += 2 {
			m.Graph.Initializer[0].ExternalData = append(m.Graph.Initializer[0].ExternalData, &onnxpb.StringStringEntryProto{Key: c.pairs[i], Value: c.pairs[i+1]})
		}
		raw, err := proto.Marshal(m)
		if err != nil { // text that is no UTF-8 cannot be written
			continue
		}
		if err := os.WriteFile(model, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = onnx.LoadFile(model, nil)
		if err == nil || !strings.Contains(err.Error(), `onnx: initializer "w" stores its data in an external file: `) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want\n%s", c.pairs, err, c.want)
		}
	}
	if runtime.GOOS != "windows" { // a link that stays inside is a name like others
		model := filepath.Join(dir, "net.onnx")
		if err := os.WriteFile(model, withExternal(t, "location", "within", "offset", "4"), 0o644); err != nil {
			t.Fatal(err)
		}
		if g, err := onnx.LoadFile(model, nil); err != nil || product(t, g) != 654 {
			t.Error(err)
		}
	}
}

// What is not allowed is refused before it is read.
func TestExternalDataIsBounded(t *testing.T) {
	raw := withExternal(t, "location", "w.bin")
	_, err := onnx.Load(bytes.NewReader(raw), nil)
	want := `onnx: initializer "w" stores its data in an external file: files beside the model cannot be read from here: open the model as a file, give the folder (LoadOptions.External), or save the model with its data inside`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	folder := fstest.MapFS{"w.bin": {Data: make([]byte, 1000)}}
	_, err = onnx.Load(bytes.NewReader(raw), &onnx.LoadOptions{External: folder, MaxMemory: 999})
	want = `onnx: initializer "w" stores its data in an external file: "w.bin" has 1000 bytes: such files together need more than 999 bytes (MaxMemory)`
	if !errors.Is(err, onnx.ErrMemory) || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	w := m.Graph.Initializer[0]
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() { w.Dims = []int64{1 << 40, 1 << 40} }, "shape [1099511627776 1099511627776] overflows"},
		{func() { w.Dims = []int64{1 << 36} }, fmt.Sprintf(`bytes 0 to %d of "w.bin", which has 1000: the file is truncated, or belongs to another model`, int64(4)<<36)},
		{func() { w.Dims = []int64{-3} }, "axis 0 has impossible size -3"},
		{func() { w.Dims, w.RawData = []int64{3, 1}, make([]byte, 12) }, "and has data inside, too"},
		{func() { w.RawData, w.DataType = nil, 17 }, "element type 17, floating point of 8 bits or fewer, is not supported; quantise to int8, or save the weights as float16"},
	} {
		c.change()
		changed, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = onnx.Load(bytes.NewReader(changed), &onnx.LoadOptions{External: folder})
		if err == nil || !strings.HasSuffix(err.Error(), "in an external file: "+c.want) {
			t.Errorf("%v, want\n%s", err, c.want)
		}
	}
}
