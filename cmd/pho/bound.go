package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
)

// How the columns of an input were found where their names do not decide it.
const (
	byPosition = "position" // the columns that were left, in the order of the data
	byOption   = "option"   // --input
)

// boundBy says it for each input whose columns have other names than its numbers;
// options are the values of --input.
func boundBy(g *onnx.Graph, bind onnx.Binding, options []string) map[string]string {
	how := map[string]string{}
	for i, own := range onnx.Unbound(g) {
		name := own.Input
		switch {
		case slices.Equal(bind[i].Columns, own.Columns) || slices.Equal(bind[i].Columns, []string{name}):
		case slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, name+"=") }):
			how[name] = byOption
		default:
			how[name] = byPosition
		}
	}
	return how
}

// networkOf is what the command wrote of r's network; nothing if it did not write r.
func networkOf(r *decompose.Result) network {
	var n network
	if json.Unmarshal(r.Model, &n) != nil {
		return network{}
	}
	return n
}

// byPosition lists the inputs that took their columns by position, in alphabetical order.
func (n *network) byPosition() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(n.BoundBy)) {
		if n.BoundBy[name] == byPosition {
			names = append(names, name)
		}
	}
	return names
}

// A summary shows so many columns of an input at most, in lines of such a width.
const (
	boundColumns = 40
	boundWidth   = 96
)

// writeBound prints which column fills which number of the inputs bound by position.
func writeBound(w io.Writer, n network) {
	for _, name := range n.byPosition() {
		fmt.Fprintf(w, "input %s: columns are bound by position; the network does not name them, so check the\n  order, or name them with --input:\n", shorten(shown(name), summaryName))
		columns := n.Inputs[name]
		line := ""
		for j, c := range columns[:min(len(columns), boundColumns)] {
			cell := "  [" + strconv.Itoa(j) + "] " + shorten(shown(c), summaryName)
			if len([]rune(line+cell)) > boundWidth {
				fmt.Fprintln(w, line)
				line = ""
			}
			line += cell
		}
		fmt.Fprintln(w, line)
		if rest := len(columns) - boundColumns; rest > 0 {
			fmt.Fprintf(w, "  and %d more (all are in the report)\n", rest)
		}
	}
}

// disorder warns of columns bound by position whose numbers are not in order: x2 before
// x1. That is how a file shuffled since training looks, or one that is sorted by name.
func (n *network) disorder() []string {
	var out []string
	for _, name := range n.byPosition() {
		columns := n.Inputs[name]
		for j := 1; j < len(columns); j++ {
			before, after := columns[j-1], columns[j]
			prefix, a, okA := numberedName(before)
			other, b, okB := numberedName(after)
			if okA && okB && prefix == other && b < a {
				out = append(out, fmt.Sprintf("input %q takes its columns by position, and %q comes before %q: if the network was trained on them in the order of their numbers, effects are given to the wrong columns; name them in order with --input",
					shorten(name, summaryName), shorten(before, summaryName), shorten(after, summaryName)))
				break
			}
		}
	}
	return out
}

// numberedName splits x12 into x and 12.
func numberedName(name string) (prefix string, number int, ok bool) {
	prefix = strings.TrimRight(name, "0123456789")
	number, err := strconv.Atoi(name[len(prefix):])
	return prefix, number, err == nil
}

// predictionWords says in a line how well the network predicts the response.
func predictionWords(r *decompose.Result) string {
	p := r.Prediction
	if p == nil {
		return ""
	}
	r2 := "no finite R2"
	if p.R2 != nil {
		r2 = fmt.Sprintf("R2 %.4g", *p.R2)
	}
	if p.RMSE != nil {
		r2 += fmt.Sprintf(", RMSE %.4g", *p.RMSE)
	}
	response := shorten(shown(r.Response), summaryName)
	if p.DevianceExplained == nil {
		return fmt.Sprintf("the network's own prediction of %s (%s): %s", response, r.Family, r2)
	}
	return fmt.Sprintf("the network's own prediction of %s (%s): %s of the deviance explained; %s", response, r.Family, percent(*p.DevianceExplained), r2)
}

// worseThanMean warns of a network that is of no use on these rows, which most often
// means that it was given other columns than in training; "" if it is.
func worseThanMean(r *decompose.Result, n network) string {
	p := r.Prediction
	if p == nil || !p.Worse {
		return ""
	}
	figure := "its deviance is not finite"
	switch {
	case p.DevianceExplained != nil:
		figure = fmt.Sprintf("deviance explained %s", percent(*p.DevianceExplained))
	case p.R2 != nil:
		figure = fmt.Sprintf("R2 %.4g", *p.R2)
	}
	order := "that each input has the columns it was trained on"
	if names := n.byPosition(); len(names) > 0 {
		order = fmt.Sprintf("the order of the columns (input %q took them by position)", shorten(names[0], summaryName))
	}
	return fmt.Sprintf("the network predicts %q worse than its mean does (%s), and a decomposition explains the network, not the data: check %s, and that they and the response are scaled as in training",
		shorten(r.Response, summaryName), figure, order)
}
