package online

import "github.com/pho-go/pho/serve/oip"

// metadata is what the protocol says of a model.
func (m *model) metadata() any {
	g := m.now.Load()
	type tensor struct {
		Name     string       `json:"name"`
		Datatype oip.Datatype `json:"datatype"`
		Shape    []int        `json:"shape"`
	}
	var inputs, outputs []tensor
	for _, c := range g.shape.columns {
		t := tensor{c.Name, oip.FP64, append([]int{-1}, c.Shape...)}
		if c.Text {
			t.Datatype = oip.Bytes
		}
		inputs = append(inputs, t)
	}
	for _, name := range append(append([]string{}, g.shape.partsSE...), g.shape.responses...) {
		outputs = append(outputs, tensor{name, oip.FP64, []int{-1}})
	}
	outputs = append(outputs, tensor{contributions, oip.FP64, []int{-1, len(g.shape.parts)}})
	return struct {
		Name     string   `json:"name"`
		Versions []string `json:"versions"`
		Platform string   `json:"platform"`
		Inputs   []tensor `json:"inputs"`
		Outputs  []tensor `json:"outputs"`
	}{m.name, []string{g.version}, "pho", inputs, outputs}
}
