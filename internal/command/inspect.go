package command

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/durable"
)

func newInspect(s streams) *cobra.Command {
	var network networkFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect MODEL.onnx",
		Short: "Show what a network holds: inputs, outputs, its additive structure and why",
		Long: `Show what a network holds, as decompose will see it: inputs, predictors (the
outputs, or the input of a final Sigmoid, Softmax, Exp or Softplus, or of the
sigmoids of ordered classes), and the additive structure found in the graph,
with reasons.`,
		Example: `  pho inspect model.onnx
  pho inspect model.onnx --predictor /fc/Add_output_0 --no-structure
  pho inspect model.onnx --json`,
		Args: exactArgs("MODEL.onnx"),
		RunE: func(_ *cobra.Command, args []string) error {
			constants, err := constantValues(network.constants, 1)
			if err != nil {
				return err
			}
			n, err := loadNetwork(args[0], network.maxMemory, constants[0], computing{})
			if err != nil {
				return err
			}
			structure, err := onnx.Discover(n.Graph, onnx.Unbound(n.Graph), network.options())
			if err != nil {
				return fmt.Errorf("model %q: %w", args[0], err)
			}
			d, err := describe(args[0], n.Graph, structure, &network)
			if err != nil {
				return fmt.Errorf("model %q: %w", args[0], err)
			}
			var text strings.Builder
			if asJSON {
				if err := d.writeJSON(&text); err != nil {
					return err
				}
				_, err = io.WriteString(s.out, networkInFlags(text.String()))
				return err
			}
			if err := d.writeText(&text, n.Graph); err != nil {
				return err
			}
			_, err = io.WriteString(s.out, shortWords(networkInFlags(text.String())))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	network.add(cmd.Flags())
	cmd.Flags().StringVar(&network.maxMemory, "max-memory", "4GiB", "bound on a network's tensors, as 512MiB or 4GiB")
	return cmd
}

// description is what inspect says, and its JSON (docs/inspect.md).
type description struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	onnx.Summary
	*onnx.Structure
	Response *responseInfo       `json:"response"` // null: the file does not say
	Text     map[string][]string `json:"text"`     // columns of text that inputs hold as numbers, with their levels
	Classes  []string            `json:"classes"`  // texts of the response
	Next     string              `json:"next"`     // a command to begin with

	family string
}

// responseInfo is what a network was trained for.
type responseInfo struct {
	Column string `json:"column"`
	Family string `json:"family"`
	Event  string `json:"event,omitempty"` // column of the events of times
}

func describe(path string, g *onnx.Graph, s *onnx.Structure, n *networkFlags) (*description, error) {
	d := &description{File: path, Summary: g.Summary(), Structure: s, Text: map[string][]string{}, Classes: []string{}}
	info, err := os.Stat(path)
	if err != nil {
		return nil, durable.Reason(err)
	}
	d.Bytes = info.Size()
	r, err := g.Response()
	if err != nil {
		return nil, err
	}
	if r != nil {
		d.Response = &responseInfo{r.Column, r.Family, r.Event}
	}
	l, err := g.Labels()
	if err != nil {
		return nil, err
	}
	if l != nil {
		maps.Copy(d.Text, l.Columns)
		d.Classes = append(d.Classes, l.Classes...)
	}
	var heads []string
	for _, p := range s.Predictors {
		heads = append(heads, p.Head)
	}
	if d.family, err = familyLine(g, heads); err != nil {
		return nil, err
	}
	d.Next, err = suggest(path, g, s, n)
	return d, err
}

func (d *description) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// writeText writes the summary of the file once, then its structure, and what to do next.
func (d *description) writeText(w io.Writer, g *onnx.Graph) error {
	if _, err := fmt.Fprintf(w, "%s: %s, %v", shown(d.File), decompose.Size(d.Bytes), d.Summary); err != nil {
		return err
	}
	if err := d.WriteText(w); err != nil {
		return err
	}
	if err := writeLabels(w, g); err != nil {
		return err
	}
	dot := ""
	if strings.Contains(d.Next, "~ .'") {
		dot = "; the dot is a term of each of them, chosen by what it holds"
	}
	_, err := fmt.Fprintf(w, "%snext, with the names of your columns%s:\n  %s\n", d.family, dot, d.Next)
	return err
}

// writeLabels says which texts the numbers of a network stand for, if it was trained on
// text.
func writeLabels(w io.Writer, g *onnx.Graph) error {
	l, err := g.Labels()
	if err != nil || l == nil {
		return err
	}
	var text strings.Builder
	line := func(what, column, is string, levels []string) {
		fmt.Fprintf(&text, "%s %q %s:", what, column, is)
		for i, level := range levels {
			if i == 20 {
				fmt.Fprintf(&text, " ... %d in all", len(levels))
				break
			}
			fmt.Fprintf(&text, " %d = %q", i, level)
		}
		text.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
		line("input", name, "is text", l.Columns[name])
	}
	if l.Response != "" {
		is := "is text"
		if r, err := g.Response(); err == nil && r != nil && r.Family == (family.Categorical{}).Name() { // numbers may be classes
			is = "has the classes"
		}
		line("response", l.Response, is, l.Classes)
	}
	_, err = io.WriteString(w, text.String())
	return err
}
