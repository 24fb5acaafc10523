// Package parts says which outputs of an ONNX file are parts of a decomposition that was
// written into it, and takes them out again.
package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Metadata is the entry of a file's metadata that holds Parts, in the field "parts" of a
// JSON object.
const Metadata = "pho.structure"

// Prefix begins the names of all nodes that compute parts.
const Prefix = "pho/"

// maxBytes bounds the entry.
const maxBytes = 16 << 20

// Parts are the outputs that are parts, and the inputs that nothing else reads.
type Parts struct {
	Inputs  []string `json:"inputs,omitempty"`
	Outputs []Output `json:"outputs"`
}

// Output is one of them.
type Output struct {
	Name      string `json:"name"`
	Predictor string `json:"predictor"`
	Part      string `json:"part"`           // term, intercept, unstructured, eta
	Term      string `json:"term,omitempty"` // the term's name
}

// Of reads what the metadata say; nil: nothing. An entry that cannot be read, or is there
// several times, is an error.
func Of(m *onnxpb.ModelProto) (*Parts, error) {
	texts := entries(m)
	if len(texts) == 0 || !strings.Contains(strings.Join(texts, ""), `"parts"`) {
		return nil, nil
	}
	var doc struct{ Parts *Parts }
	err := errors.New("it is there several times")
	switch {
	case len(texts) > 1:
	case len(texts[0]) > maxBytes:
		err = fmt.Errorf("it has %d bytes, at most %d are read", len(texts[0]), maxBytes)
	default:
		err = json.Unmarshal([]byte(texts[0]), &doc)
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: the metadata entry %q, which says what outputs are parts of a decomposition, is damaged: %w; write the network again, or remove the entry", Metadata, err)
	}
	return doc.Parts, nil
}

func entries(m *onnxpb.ModelProto) (texts []string) {
	for _, e := range m.MetadataProps {
		if e.Key == Metadata {
			texts = append(texts, e.Value)
		}
	}
	return texts
}

// Take is Of, and removes from m what it says.
func Take(m *onnxpb.ModelProto) (*Parts, error) {
	p, err := Of(m)
	if err != nil || p == nil {
		return nil, err
	}
	p.Remove(m)
	return p, nil
}

// Without is the file without its parts, the file itself if it has none.
func Without(file []byte) ([]byte, error) {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(file, m); err != nil {
		return nil, fmt.Errorf("onnx: not an ONNX model: %w", err)
	}
	if p, err := Take(m); err != nil || p == nil {
		return file, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// Remove takes the parts out of m: outputs, inputs, and the nodes called Prefix that nothing
// else reads. The metadata entry stays without the parts.
func (p *Parts) Remove(m *onnxpb.ModelProto) {
	g := m.Graph
	if g == nil {
		return
	}
	outputs, inputs := map[string]bool{}, map[string]bool{}
	for _, o := range p.Outputs {
		outputs[o.Name] = true
	}
	for _, name := range p.Inputs {
		inputs[name] = true
	}
	g.Output = slices.DeleteFunc(g.Output, func(o *onnxpb.ValueInfoProto) bool { return outputs[o.GetName()] })
	g.Input = slices.DeleteFunc(g.Input, func(in *onnxpb.ValueInfoProto) bool { return inputs[in.GetName()] })
	read := map[string]bool{}
	for _, o := range g.Output {
		read[o.GetName()] = true
	}
	var kept []*onnxpb.NodeProto
	for _, n := range slices.Backward(g.Node) { // nodes stand after those they read
		if strings.HasPrefix(n.GetName(), Prefix) && !slices.ContainsFunc(n.GetOutput(), func(o string) bool { return read[o] }) {
			continue
		}
		kept = append(kept, n)
		for _, in := range n.GetInput() {
			read[in] = true
		}
	}
	slices.Reverse(kept)
	g.Node = kept
	for i, e := range m.MetadataProps {
		if e.Key == Metadata {
			m.MetadataProps[i] = &onnxpb.StringStringEntryProto{Key: Metadata, Value: without(e.Value)}
		}
	}
	m.MetadataProps = slices.DeleteFunc(m.MetadataProps, func(e *onnxpb.StringStringEntryProto) bool { return e.Key == Metadata && e.Value == "" })
}

// without is the JSON object less its parts; "" if then it declares no predictor.
func without(text string) string {
	var doc map[string]json.RawMessage
	var predictors []json.RawMessage
	if json.Unmarshal([]byte(text), &doc) != nil {
		return text
	}
	if json.Unmarshal(doc["predictors"], &predictors) != nil || len(predictors) == 0 {
		return ""
	}
	delete(doc, "parts")
	out, err := json.Marshal(doc)
	if err != nil {
		return text
	}
	return string(out)
}

// Add writes p into the metadata, next to what the entry, of that format, holds.
func (p *Parts) Add(m *onnxpb.ModelProto, format string) error {
	doc := map[string]json.RawMessage{}
	for _, text := range entries(m) {
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			return fmt.Errorf("onnx: the metadata entry %q is damaged: %w; write the network again, or remove the entry", Metadata, err)
		}
	}
	var err error
	set := func(key string, value any) {
		if doc[key] == nil && err == nil {
			doc[key], err = json.Marshal(value)
		}
	}
	set("format", format)
	set("columns", struct{}{})
	set("predictors", []string{})
	set("parts", p)
	text, failed := json.Marshal(doc)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	m.MetadataProps = slices.DeleteFunc(m.MetadataProps, func(e *onnxpb.StringStringEntryProto) bool { return e.Key == Metadata })
	m.MetadataProps = append(m.MetadataProps, &onnxpb.StringStringEntryProto{Key: Metadata, Value: string(text)})
	return nil
}
