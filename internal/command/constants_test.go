package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// flattened is sum(flatten(x) - mean), x of [N,2,3] and mean a graph input without values.
func flattened(t *testing.T, path string) {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 3)
	b.AddInput("mean", onnxpb.TensorProto_FLOAT, 1, 6)
	b.AddInts("last", 1)
	b.AddNode("Flatten", []string{"x"}, "f")
	b.AddNode("Sub", []string{"f", "mean"}, "c")
	b.AddNode("ReduceSum", []string{"c", "last"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(file))
}

// An input that is a constant in truth is given by --constant, is recorded, and is an error
// where it does not fit; an array whose axes are turned is one, too.
func TestConstantsAndTurnedArrays(t *testing.T) {
	dir := t.TempDir()
	place := func(name string) string { return filepath.Join(dir, name) }
	flattened(t, place("net.onnx"))
	x := make([]float64, 40*6)
	for i := range x {
		x[i] = float64(i*i%37) / 8
	}
	writeArray(t, place("x.npy"), "(40, 2, 3)", x)
	writeArray(t, place("turned.npy"), "(40, 3, 2)", x)
	writeArray(t, place("flat.npy"), "(40, 6)", x)
	run := func(array, out string, further ...string) outcome {
		return call(t, append([]string{"decompose", "--model", place("net.onnx"), "--input", "x=@" + place(array), "--formula", "~ 1", "--no-structure", "--bands", "none", "--out", place(out)}, further...)...)
	}
	const mean = "mean=1,2,3,4,5,6"
	for _, array := range []string{"x.npy", "flat.npy"} {
		if o := run(array, "result "+array, "--constant", mean); o.status != exitDone {
			t.Fatal(o.err)
		}
		_, records := table(t, place("result "+array), "contributions.csv")
		eta := -21.0
		for _, v := range x[:6] {
			eta += v
		}
		if got := number(t, records[0][len(records[0])-1]); got != eta {
			t.Errorf("%s: eta %v, want %v", array, got, eta)
		}
	}
	done(t, "apply", "--decomposition", place("result x.npy"), "--input", "x=@"+place("x.npy"), "--out", place("new.csv"))
	for _, c := range []struct {
		array, constant string
		want            string
	}{
		{"x.npy", "", "--constant NAME=VALUES"},
		{"turned.npy", mean, "numpy.transpose(x, (0, 2, 1))"},
		{"x.npy", "mean=1,2,3", "3 values are given"},
		{"x.npy", "mean=1,2,3,4,5,NaN", "it takes finite numbers"},
		{"x.npy", "maen=1,2,3,4,5,6", `names "maen", which is no input`},
		{"x.npy", "mean", "NAME=VALUES"},
		{"x.npy", "mean=1,a", `"a" is no number`},
	} {
		further := []string{"--constant", c.constant}
		if c.constant == "" {
			further = nil
		}
		if o := run(c.array, "bad", further...); o.status == exitDone || !strings.Contains(o.err, c.want) {
			t.Errorf("%s, %s: status %d, no %q in\n%s", c.array, c.constant, o.status, c.want, o.err)
		}
	}
}
