package main

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// Advice of the library is said by flags, and what the command added itself stays.
func TestAdviceInFlags(t *testing.T) {
	m := decompose.Memory{
		{Name: "moments", Bytes: 1, Advice: decompose.FewerWorkers + ", or " + decompose.FewerColumns},
		{Name: "kept outputs", Bytes: 1, Advice: decompose.OutputsInFile},
		{Name: "files", Bytes: 1, Advice: "a smaller --batch-size"},
	}
	want := []string{"fewer --workers, or " + decompose.FewerColumns, "--zeta-cache FILE", "a smaller --batch-size"}
	for i, p := range memoryInFlags(m) {
		if p.Advice != want[i] {
			t.Errorf("%s: %q, want %q", p.Name, p.Advice, want[i])
		}
	}
	if strings.Contains(m[0].Advice, "--") {
		t.Error("the library's own estimate was changed")
	}
}
