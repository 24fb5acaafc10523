package command

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// addID is the flag of the column that names rows.
func addID(f *pflag.FlagSet, id *string) {
	f.StringVar(id, "id", "", "`COLUMN` that names rows: the first column of the contributions; no network or term reads it unless it is named there")
}

// idText is the column as one that is read to the letter, so that 007 stays 007; none if the
// network or a formula reads it, which may need its numbers.
func idText(id string, read []string) []string {
	if id == "" || slices.Contains(read, id) {
		return nil
	}
	return []string{id}
}

// namedColumns are those that formulas and inputs name, inputs of the network that columns of
// their names fill among them; of ranges the ends, and id if it may be among their numbers.
func namedColumns(g *onnx.Graph, formulas, inputs []string, id string) []string {
	var names []string
	for _, own := range onnx.Unbound(g) {
		names = append(append(names, own.Input), own.Columns...)
	}
	for _, text := range formulas {
		if f, err := formula.Parse(text); err == nil { // else it is refused elsewhere
			names = append(names, f.Names()...)
		}
	}
	for _, input := range inputs {
		_, list, _ := strings.Cut(input, "=")
		for _, item := range strings.Split(list, ",") {
			first, last, isRange := strings.Cut(strings.TrimSpace(item), "..")
			names = append(names, first, last)
			if isRange && withoutNumber(id) == withoutNumber(first) { // x3 may be among x0..x9
				names = append(names, id)
			}
		}
	}
	return names
}

func withoutNumber(name string) string { return strings.TrimRight(name, "0123456789") }

// columnsRead are those that the network and the terms of r read.
func columnsRead(r *decompose.Result, ref *wiring.Reference) []string {
	names := append(wiring.TermColumns(r), ref.Factors...)
	for _, own := range ref.Inputs {
		names = append(names, own...)
	}
	for _, own := range ref.Predicted() {
		names = append(names, own...)
	}
	return names
}
