package onnx

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/data"
)

// textNumbers are the numbers that the texts of a column go by inside an engine. A missing one is the empty text, where the
// network has a use for that.
func textNumbers(table *graph.Texts, b *data.Batch, name string, missing bool) ([]float64, error) {
	c, err := b.Codes(name)
	if err != nil {
		return nil, fmt.Errorf("onnx: input of text of the network: %w", err)
	}
	known := map[int32]float64{}
	out := make([]float64, len(c.Index))
	for i, level := range c.Index {
		n, ok := known[level]
		if !ok {
			if level < 0 || int(level) >= len(c.Levels) {
				return nil, fmt.Errorf("onnx: column %q, data row %d has no text, and the network needs one; leave such rows out or name them", name, b.Row(i)+1)
			}
			text := c.Levels[level]
			if text == data.MissingLevel {
				if text = ""; !missing {
					return nil, fmt.Errorf("onnx: column %q, data row %d: %w, and the network has no use for that; fill it in, or leave such rows out", name, b.Row(i)+1, data.ErrMissingValue)
				}
			}
			number, err := table.Number(text)
			if err != nil {
				return nil, fmt.Errorf("onnx: column %q: %w", name, err)
			}
			n = float64(number)
			known[level] = n
		}
		out[i] = n
	}
	return out, nil
}

// textColumns marks the columns that feed inputs of text, and those of them to which functions of the program alone
// are applied (Assembly.Texts), and refuses those that feed inputs of numbers, too.
func (m *Model) textColumns() error {
	m.text, m.emptied = make([]bool, len(m.columns)), make([]bool, len(m.columns))
	for i, v := range m.graph.g.Inputs {
		others := slices.ContainsFunc(m.graph.g.Nodes, func(n *graph.Node) bool { return n.Key() != operator.TextNumbers && slices.Contains(n.Inputs, v) })
		for _, c := range m.feed[i] {
			m.emptied[c] = (m.emptied[c] || !m.text[c]) && !others
			m.text[c] = m.text[c] || v.Type == graph.String
			m.readsText = m.readsText || v.Type == graph.String
		}
	}
	for i, v := range m.graph.g.Inputs {
		for _, c := range m.feed[i] {
			if m.text[c] && v.Type != graph.String {
				return fmt.Errorf("onnx: column %q is bound to an input of text and to input %q, which takes %s; bind a column of numbers to that", m.columns[c], v.Name, v.Type)
			}
		}
	}
	return nil
}
