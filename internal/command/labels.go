package command

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/label"
)

// addLabels is the flag of a labels file; how says what becomes of them.
func addLabels(f *pflag.FlagSet, path *string, how string) {
	f.StringVar(path, "labels", "", "JSON `FILE` of what people call columns, units, levels and terms"+how)
}

// readLabels reads a labels file; "" is none.
func readLabels(path string) (*label.Labels, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--labels %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	l, err := label.Read(f)
	if err != nil {
		return nil, fmt.Errorf("--labels %q: %w", path, err)
	}
	return l, nil
}

// readResult reads the decomposition in dir for summaries and bands (resultdir.ReadBands), with the labels in a file in place of its own; ""
// keeps those.
func readResult(dir, labels string) (*decompose.Result, error) {
	return labelledBy(labels, dir, resultdir.ReadBands)
}

// labelledBy is what read makes of dir, with the labels in a file.
func labelledBy(labels, dir string, read func(dir string) (*decompose.Result, error)) (*decompose.Result, error) {
	r, err := read(dir)
	if err != nil || labels == "" {
		return r, err
	}
	l, err := readLabels(labels)
	if err != nil {
		return nil, err
	}
	return r, wiring.SetLabels(r, l)
}
