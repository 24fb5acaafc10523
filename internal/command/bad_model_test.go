package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// elsewhere is the way out for models that cannot be run here.
const elsewhere = "; what the model predicts elsewhere can be decomposed: predict the rows there, and name the column (--predictions COLUMN in place of --model)"

// Networks that cannot be read or run are refused by inspect and by decompose.
func TestBadModels(t *testing.T) {
	file := func(nodes func(b *onnxpb.Builder)) string {
		path := filepath.Join(t.TempDir(), "a.onnx")
		model(t, path, 5, nodes)
		return read(t, path)
	}
	real := read(t, golden("ssn_op13"))
	cyclic := onnxpb.NewBuilder(13)
	cyclic.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 5)
	cyclic.AddNode("Relu", []string{"b"}, "a")
	cyclic.AddNode("Add", []string{"a", "x"}, "b")
	cyclic.Output("b", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 5)
	raw, err := proto.Marshal(cyclic.Model())
	if err != nil {
		t.Fatal(err)
	}
	huge := file(func(b *onnxpb.Builder) {
		b.AddInit("w", []int{1}, 1)
		b.Model().Graph.Initializer[0].Dims = []int64{1 << 40, 1 << 40}
		b.AddNode("Mul", []string{"x", "w"}, "y")
	})
	wide := file(func(b *onnxpb.Builder) {
		b.AddInts("shape", 1<<20, 1<<20)
		b.AddInit("one", []int{1}, 1)
		b.AddNode("Expand", []string{"one", "shape"}, "w")
		b.AddNode("ReduceSum", []string{"w"}, "s")
		b.AddNode("Mul", []string{"x", "s"}, "y")
	})
	mixed := file(func(b *onnxpb.Builder) {
		b.AddNode("ReduceMean", []string{"x"}, "m", onnxpb.Ints("axes", 0), onnxpb.Int("keepdims", 1))
		b.AddNode("Sub", []string{"x", "m"}, "y")
	})
	random := file(func(b *onnxpb.Builder) { b.AddNode("Bernoulli", []string{"x"}, "y") })
	cases := []struct{ name, file, want string }{
		{"empty", "", `onnx: the model is empty (0 bytes)`},
		{"garbage", "\xff\xff\xff\xff\xff\xff", `onnx: not an ONNX model or damaged: bad tag in model: unexpected EOF`},
		{"text", rows(2), `onnx: not an ONNX model: field 5 of model is a group`},
		{"of PyTorch", "PK\x03\x04" + strings.Repeat("a", 99), `the file is a zip archive, as PyTorch (.pt, .pth) and Keras (.keras) write, and no ONNX file: export the network as ONNX (torch.onnx.export, Keras's model.export), or give the module itself to pho.decompose in Python`},
		{"of Keras", "\x89HDF\r\n\x1a\n" + strings.Repeat("a", 99), `the file is HDF5, as Keras writes (.h5), and no ONNX file: export the network as ONNX (torch.onnx.export, Keras's model.export), or give the module itself to pho.decompose in Python`},
		{"a pickle", "\x80\x04\x95" + strings.Repeat("a", 99), `the file is a pickle of Python (.pkl, .joblib), which is not opened, since that runs whatever it holds: give the estimator itself to pho.decompose in Python, or save a booster by its own save_model`},
		{"compressed", "\x1f\x8b\x08" + strings.Repeat("a", 99), `the file is compressed (.gz, .zst; R's .rds is, too): unpack it first`},
		{"JSON", ` {"hello": 1}`, `the file is JSON, but not as XGBoost (save_model), CatBoost (save_model with format="json") or InterpretML (to_json) write: save the model by its library again`},
		{"a web page", "<!DOCTYPE html>", `the file is XML or a web page, and no model that is read here: if it was downloaded, look at it in a browser; of PMML, train or export the model in another format`},
		{"truncated", real[:len(real)/2], `onnx: the model is truncated or damaged: field 7 of model: unexpected EOF`},
		{"nearly whole", real[:len(real)-3], `onnx: the model is truncated or damaged: field 8 of model: unexpected EOF`},
		{"cyclic", string(raw), `onnx: the graph has a cycle through node "a" (Relu) and node "b" (Add) (tensor "a")`},
		{"huge dimensions", huge, `onnx: initializer "w": shape [1099511627776 1099511627776] overflows`},
		{"huge constant", wide, `onnx: node "w" (Expand): output "w" of shape [1048576 1048576] needs more than 4294967296 bytes (MaxMemory); --max-memory sets the bound`},
		{"rows mixed", mixed, `onnx: node "m" (ReduceMean): mixes rows: it reduces over the batch axis 0 of [N 5]`},
		{"random numbers", random, `onnx: node "y" (Bernoulli): operator Bernoulli draws random numbers: no answer would repeat; export the model for inference, without it`},
	}
	for _, c := range cases {
		for _, args := range []string{
			"pho inspect TEMP/bad.onnx",
			"pho decompose --model TEMP/bad.onnx --data DATA --input x=x0..x4 --out TEMP/new/out",
			"pho decompose --model TEMP/bad.onnx --data DATA --input x=x0..x4 --out TEMP/earlier",
		} {
			b := badCase{files: map[string]string{"bad.onnx": c.file}, args: args, status: exitFailed, want: `model "TEMP/bad.onnx": ` + c.want}
			if !strings.Contains(c.want, "--max-memory") {
				b.want += elsewhere
			}
			t.Run(c.name+" "+strings.Fields(args)[1], b.run)
		}
	}
	missing := badCase{args: "pho inspect TEMP/no.onnx", status: exitFailed, want: `model "TEMP/no.onnx": no such file or directory`}
	t.Run("missing", missing.run)
	directory := badCase{args: "pho inspect TEMP", status: exitFailed, want: `model "TEMP" is not a regular file: name the file of a model`}
	t.Run("directory", directory.run)
}

// A file with the right name that is another network is refused, whether it was
// found or given; a network that moved with its result is found.
func TestMovedModels(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	write(t, place("rows.csv"), rows(30))
	if err := os.Mkdir(place("a"), 0o777); err != nil {
		t.Fatal(err)
	}
	network, other := read(t, golden("ssn_op13")), read(t, golden("ssn_op11"))
	write(t, place("a", "net.onnx"), network)
	done(t, "decompose", "--model", place("a", "net.onnx"), "--data", place("rows.csv"), "--input", "x=x0..x4", "--out", place("a", "result"))
	apply := func(more ...string) outcome {
		t.Helper()
		return call(t, append([]string{"apply", "--decomposition", place("b", "result"), "--data", place("rows.csv"), "--out", "-"}, more...)...)
	}
	if err := os.Rename(place("a"), place("b")); err != nil {
		t.Fatal(err)
	}
	if o := apply(); o.status != exitDone || o.out != read(t, place("b", "result", resultdir.Contributions)) {
		t.Errorf("moved together: status %d, %s", o.status, o.err)
	}
	if err := os.Rename(place("b", "net.onnx"), place("b", "elsewhere.onnx")); err != nil {
		t.Fatal(err)
	}
	want := `pho: model "` + place("b", "net.onnx") + `": no such file or directory; if the network has moved, give its place with --model` + "\n"
	if o := apply(); o.status != exitFailed || o.err != want {
		t.Errorf("gone: status %d, message\n%swant\n%s", o.status, o.err, want)
	}
	if o := call(t, "report", place("b", "result")); o.status != exitFailed || o.err != want {
		t.Errorf("report, gone: status %d, message\n%s", o.status, o.err)
	}
	for _, o := range []outcome{apply("--model", place("b", "elsewhere.onnx")), call(t, "report", "--model", place("b", "elsewhere.onnx"), place("b", "result"))} {
		if o.status != exitDone {
			t.Errorf("--model: status %d, %s", o.status, o.err)
		}
	}
	write(t, place("b", "net.onnx"), other)
	const stranger = "is not the network of this decomposition: its sha256 is "
	for _, o := range []outcome{apply(), apply("--model", place("b", "net.onnx")), call(t, "report", "--model", place("b", "net.onnx"), place("b", "result"))} {
		if o.status != exitFailed || !strings.Contains(o.err, stranger) || o.out != "" {
			t.Errorf("another network: status %d, %s", o.status, o.err)
		}
	}
}
