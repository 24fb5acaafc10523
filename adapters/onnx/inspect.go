package onnx

import (
	"fmt"
	"io"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// WriteText writes the structure as a tree for people: inputs, then each
// predictor with its intercept, terms and deep part, and the reason of each
// decision.
func (s *Structure) WriteText(w io.Writer) error {
	t := &outline{w: w}
	t.line(0, "inputs")
	for _, in := range s.Inputs {
		from := in.Whole
		if from == "" {
			from = shortList(in.Columns)
		}
		t.line(1, "%q  %s %s  <- %s", in.Name, in.Type, in.Shape, from)
	}
	if len(s.Unused) > 0 {
		t.line(0, "unused columns: %s (no predictor depends on them)", shortList(s.Unused))
	}
	for _, p := range s.Predictors {
		t.predictor(p)
	}
	for _, own := range s.Softmaxes {
		named := "the file does not name them"
		if own.Labels != nil {
			named = shortList(own.Labels)
		}
		t.line(0, "classes of one softmax: predictors %s (%s)", shortList(own.Predictors), named)
	}
	for _, n := range s.Notes {
		t.line(0, "note: %s", n)
	}
	return t.err
}

// outline writes indented lines and keeps the first error.
type outline struct {
	w   io.Writer
	err error
}

func (t *outline) line(depth int, format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, strings.Repeat("  ", depth)+format+"\n", args...)
	}
}

func (t *outline) predictor(p PredictorInfo) {
	head := ""
	if p.Head != "" {
		head = fmt.Sprintf("  (the input of the head %s: %s)", p.Head, strings.Join(p.HeadNodes, ", "))
	}
	t.line(0, "predictor %s = tensor %q element %d%s", graph.PlainName(p.Name), p.Tensor, p.Element, head)
	for _, r := range p.Reasons {
		t.line(1, "%s", r)
	}
	t.line(1, "intercept  %.6g", p.Intercept)
	for _, term := range p.Terms {
		if term.Coefficient != nil {
			t.line(1, "%s  linear, coefficient %.6g, through %s", graph.PlainName(term.Name), *term.Coefficient, through(term.Nodes))
			continue
		}
		t.line(1, "%s  %s, %s of %s", graph.PlainName(term.Name), term.Kind, graph.Plural(term.Width, "basis column"), through(term.Nodes))
		if term.Declared != "" {
			t.line(2, "is: %s", term.Declared)
		}
		t.line(2, "why: %s", term.Reason)
	}
	if p.Deep == nil {
		t.line(1, "deep  none, zeta = 0")
		return
	}
	t.line(1, "deep  %s (U) of %s on %s: %s", graph.Plural(p.Deep.Width, "feature"), through(p.Deep.Nodes), graph.Plural(len(p.Deep.Columns), "column"), shortList(p.Deep.Columns))
	for _, r := range p.Deep.Reasons {
		t.line(2, "why: %s", r)
	}
}

func through(nodes []string) string {
	if len(nodes) == 0 {
		return "no node"
	}
	const most = 6
	if len(nodes) > most {
		return strings.Join(nodes[:most], ", ") + fmt.Sprintf(" and %d more", len(nodes)-most)
	}
	return strings.Join(nodes, ", ")
}

// shortList writes names, the middle of a long list left out. Names that would
// not read as one word are quoted.
func shortList(names []string) string {
	const most = 12
	var out []string
	for i, n := range names {
		if len(names) > most && i >= most-2 && i < len(names)-1 {
			if i == most-2 {
				out = append(out, "...")
			}
			continue
		}
		out = append(out, graph.PlainName(n))
	}
	if len(out) == 0 {
		return "none"
	}
	s := strings.Join(out, ", ")
	if len(names) > most {
		s += fmt.Sprintf(" (%d)", len(names))
	}
	return s
}
