package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestCompletedValues: the shell offers exactly the values that the flag takes.
func TestCompletedValues(t *testing.T) {
	t.Parallel()
	for name, values := range flagValues() {
		command := "decompose"
		switch name {
		case "kind", "orthogonalize", "activation", "initialization", "optimizer", "schedule":
			command = "train"
		case "by", "roll-up", "unseen":
			command = "monitor"
		}
		o := done(t, "__complete", command, "--"+name, "")
		for _, v := range values {
			if !strings.Contains(o.out, v+"\n") {
				t.Errorf("--%s: no %s in %q", name, v, o.out)
			}
			if got := call(t, command, "--"+name, v); strings.Contains(got.err, fmt.Sprintf("--%s %q", name, v)) || strings.Contains(got.err, "unknown") {
				t.Errorf("--%s %s: %s", name, v, got.err)
			}
		}
	}
	for _, c := range []struct{ args, want string }{
		{"summary|", ":16"}, {"explain|", ":16"}, {"inspect|", "onnx"}, {"decompose|--model|", "onnx"}, {"decompose|--data|", "parquet"}, {"demo|", ":4"}, {"monitor|", ":16"}, {"compare|", ":0"}, {"apply|--decomposition|", ":16"},
	} {
		if o := done(t, append([]string{"__complete"}, strings.Split(c.args, "|")...)...); !strings.Contains(o.out, c.want+"\n") {
			t.Errorf("%s: %q", c.args, o.out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := done(t, "completion", shell); len(o.out) < 1000 || strings.Contains(o.out, `\u00`) {
			t.Errorf("%s: %.100q", shell, o.out)
		}
	}
}
