package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Summary is what a file says of itself. Its JSON field names are stable.
type Summary struct {
	Producer   string          `json:"producer"` // the program that wrote it, with its version; "": it does not say
	IRVersion  int64           `json:"ir_version"`
	Opsets     []Opset         `json:"opsets"`
	Nodes      int             `json:"nodes"`     // of the file, needed or not
	Operators  []OperatorCount `json:"operators"` // the most frequent first
	Parameters int64           `json:"parameters"`
	Outputs    []OutputInfo    `json:"outputs"`
}

// Opset is the version of a domain's operators that a file imports.
type Opset struct {
	Domain  string `json:"domain"` // ai.onnx, ai.onnx.ml
	Version int    `json:"version"`
}

// OperatorCount is how many nodes of a file have an operator.
type OperatorCount struct {
	Operator string `json:"operator"`
	Nodes    int    `json:"nodes"`
}

// OutputInfo is an output of the graph.
type OutputInfo struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape string `json:"shape"` // N is the batch axis
}

// Summary describes the file that g was loaded from, less the parts of a decomposition that
// were written into it.
func (g *Graph) Summary() Summary {
	o := g.g.Origin
	s := Summary{
		Producer: strings.TrimSpace(o.Producer + " " + o.Version), IRVersion: o.IR, Parameters: o.Parameters,
		Opsets: []Opset{}, Operators: []OperatorCount{}, Outputs: []OutputInfo{},
	}
	for _, d := range slices.Sorted(maps.Keys(o.Opsets)) {
		s.Opsets = append(s.Opsets, Opset{cmp.Or(d, "ai.onnx"), o.Opsets[d]})
	}
	for _, name := range slices.Sorted(maps.Keys(o.Operators)) {
		s.Operators = append(s.Operators, OperatorCount{name, o.Operators[name]})
		s.Nodes += o.Operators[name]
	}
	slices.SortStableFunc(s.Operators, func(a, b OperatorCount) int { return cmp.Compare(b.Nodes, a.Nodes) })
	for _, v := range g.g.Outputs {
		s.Outputs = append(s.Outputs, OutputInfo{v.Name, v.Type.String(), graph.ShapeText(v.Shape)})
	}
	return s
}

// String is the summary in a line and, below it, the outputs.
func (s Summary) String() string {
	const most = 6
	var opsets, operators []string
	for _, o := range s.Opsets {
		opsets = append(opsets, fmt.Sprintf("opset %d of %s", o.Version, graph.PlainName(o.Domain)))
	}
	for i, o := range s.Operators {
		if i == most {
			operators = append(operators, fmt.Sprintf("and %d more", len(s.Operators)-most))
			break
		}
		operators = append(operators, fmt.Sprintf("%d %s", o.Nodes, graph.PlainName(o.Operator)))
	}
	by := ""
	if s.Producer != "" {
		by = ", written by " + s.Producer
	}
	text := fmt.Sprintf("%s, IR version %d%s\n%s (%s), %s\noutputs\n", strings.Join(opsets, ", "), s.IRVersion, by,
		graph.Plural(s.Nodes, "node"), strings.Join(operators, ", "), graph.Plural(int(s.Parameters), "parameter"))
	for i, o := range s.Outputs {
		if i == 2*most && len(s.Outputs) > 2*most+1 {
			text += fmt.Sprintf("  and %d more\n", len(s.Outputs)-i)
			break
		}
		text += fmt.Sprintf("  %q  %s %s\n", o.Name, o.Type, o.Shape)
	}
	return text
}
