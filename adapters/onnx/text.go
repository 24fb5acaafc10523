package onnx

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
)

// textNumbers are the numbers that the texts of a column go by inside an engine.
func textNumbers(table *graph.Texts, b *data.Batch, name string) ([]float64, error) {
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
			number, err := table.Number(c.Levels[level])
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

// textColumns marks the columns that feed inputs of text, and refuses those that feed
// inputs of numbers, too.
func (m *Model) textColumns() error {
	m.text = make([]bool, len(m.columns))
	for i, v := range m.graph.g.Inputs {
		for _, c := range m.feed[i] {
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
