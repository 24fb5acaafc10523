package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A network that keeps its weights in a file beside it is inspected, decomposed and
// applied; a byte changed in that file makes it another network, and no output takes the
// file's place.
func TestNetworkWithDataBeside(t *testing.T) {
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	zoo := filepath.Join("..", "..", "testdata", "zoo", "networks", "torch_dynamo")
	for _, name := range []string{"external_nam.onnx", "external_nam.onnx.data"} {
		write(t, place(name), read(t, zoo, name))
	}
	net, weights, rowsFile, result := place("external_nam.onnx"), place("external_nam.onnx.data"), place("rows.csv"), place("result")
	write(t, rowsFile, rows(60))
	if o := done(t, "inspect", net); !strings.Contains(o.out, "4 learned terms") {
		t.Errorf("inspect says\n%s", o.out)
	}
	done(t, "decompose", "--model", net, "--data", rowsFile, "--input", "x=x0..x3", "--out", result)
	apply := []string{"apply", "--decomposition", result, "--data", rowsFile, "--out"}
	done(t, append(apply, place("again.csv"))...)
	if read(t, place("again.csv")) != read(t, result, "contributions.csv") {
		t.Error("the training rows have other contributions the second time")
	}
	done(t, "verify", result)
	done(t, "report", result)

	o := call(t, append(apply, weights)...)
	if want := `is data of the model, and would be overwritten: name another file`; o.status != exitFailed || !strings.Contains(o.err, want) {
		t.Errorf("status %d, want %s\n%s", o.status, want, o.err)
	}
	changed := []byte(read(t, weights))
	changed[3] ^= 1
	write(t, weights, string(changed))
	if o := call(t, append(apply, place("again.csv"))...); o.status != exitFailed || !strings.Contains(o.err, "is not the network of this decomposition") {
		t.Errorf("weights were changed: status %d\n%s", o.status, o.err)
	}
	if err := os.Remove(weights); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", net}, append(apply, place("again.csv"))} {
		if o := call(t, args...); o.status != exitFailed || !strings.Contains(o.err, "external_nam.onnx.data") {
			t.Errorf("weights are gone: status %d\n%s", o.status, o.err)
		}
	}
}
