package onnx

import (
	"encoding/json"
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// MetadataStructure is the entry of a file's metadata_props in which its writer
// declares the structured terms: the JSON of a Declaration, whose format is
// DeclarationFormat. Other runtimes pass it over.
const (
	MetadataStructure = "pho.structure"
	DeclarationFormat = "pho.structure/1"
)

// maxDeclaration bounds the declaration of a file, in bytes.
const maxDeclaration = 16 << 20

// Decoder rebuilds a term from its kind and spec; basis.Decode is one.
type Decoder = func(decompose.Kind, json.RawMessage) (decompose.Term, error)

// Declaration says which tensors of a graph are the bases of which terms, with
// their penalties and constraints: what the graph itself cannot tell. Coefficients
// are not part of it: they are the weights that the graph gives to the tensors'
// elements.
type Declaration struct {
	// Columns are the data columns that terms read, which are inputs of the graph.
	Columns    map[string]Domain
	Predictors []DeclaredPredictor
}

// Domain is where a column has its values: Values if there are any, as for a
// factor, else the interval.
type Domain struct {
	From   float64   `json:"from"`
	To     float64   `json:"to"`
	Values []float64 `json:"values,omitempty"`
}

// DeclaredPredictor is declared of a graph output: its terms, and the tensors whose elements are
// the deep part's features U, without which a small deep part would be taken for a learned term. An
// output that is a softmax has one for each class k, with k, from 1, at the end of its name.
type DeclaredPredictor struct {
	Output string
	Terms  []DeclaredTerm
	Deep   []string
}

// DeclaredTerm is a block whose term's columns are the elements of a tensor, in
// order. Its Coef is not written.
type DeclaredTerm struct {
	Tensor string
	Block  decompose.Block
}

type declarationJSON struct {
	Format     string                  `json:"format"`
	Columns    map[string]Domain       `json:"columns"`
	Predictors []declaredPredictorJSON `json:"predictors"`
	Blocks     json.RawMessage         `json:"blocks"`
}

// partsJSON is what a declaration may hold besides: see package export.
type partsJSON struct {
	declarationJSON
	Parts json.RawMessage `json:"parts"`
}

type declaredPredictorJSON struct {
	Output  string   `json:"output"`
	Tensors []string `json:"tensors"` // of its blocks, in order
	Deep    []string `json:"deep,omitempty"`
}

// Encode is the text of the metadata entry; the same for equal declarations.
func (d *Declaration) Encode() (string, error) {
	doc := declarationJSON{Format: DeclarationFormat, Columns: d.Columns}
	var blocks [][]decompose.Block
	for _, p := range d.Predictors {
		j := declaredPredictorJSON{Output: p.Output, Tensors: []string{}, Deep: p.Deep}
		var own []decompose.Block
		for _, t := range p.Terms {
			j.Tensors, own = append(j.Tensors, t.Tensor), append(own, t.Block)
		}
		doc.Predictors, blocks = append(doc.Predictors, j), append(blocks, own)
	}
	var err error
	if doc.Blocks, err = decompose.EncodeBlocks(blocks); err != nil {
		return "", err
	}
	text, err := json.Marshal(doc)
	if err == nil && len(text) > maxDeclaration {
		err = fmt.Errorf("onnx: the declaration of the terms takes %d bytes, at most %d are read back", len(text), maxDeclaration)
	}
	return string(text), err
}

// Declaration reads what the file declares; nil: nothing. An entry that does not
// make sense is an error.
func (g *Graph) Declaration(decode Decoder) (*Declaration, error) {
	text, found, err := g.metadata(MetadataStructure)
	if !found {
		return nil, nil
	}
	var d *Declaration
	if err == nil {
		d, err = parseDeclaration(text, decode)
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: the metadata entry %q, which declares the structured terms, is damaged or of a later version: %w; "+
			"write the network again, or remove the entry to open it by its graph alone", MetadataStructure, err)
	}
	return d, nil
}

func parseDeclaration(text string, decode Decoder) (*Declaration, error) {
	var version struct{ Format string }
	if err := json.Unmarshal([]byte(text), &version); err != nil {
		return nil, err
	}
	if version.Format != DeclarationFormat {
		return nil, fmt.Errorf("its format is %q, this version reads %q", version.Format, DeclarationFormat)
	}
	var doc partsJSON
	if err := wire.JSON([]byte(text), &doc); err != nil {
		return nil, err
	}
	if doc.Parts != nil && len(doc.Predictors) == 0 {
		return &Declaration{}, nil // it says nothing of terms
	}
	blocks, err := decompose.DecodeBlocks(doc.Blocks, decode)
	if err != nil {
		return nil, err
	}
	if len(blocks) != len(doc.Predictors) {
		return nil, fmt.Errorf("it has blocks for %d predictors and tensors for %d", len(blocks), len(doc.Predictors))
	}
	d := &Declaration{Columns: doc.Columns}
	for k, p := range doc.Predictors {
		if len(p.Tensors) != len(blocks[k]) {
			return nil, fmt.Errorf("output %q has %d blocks and %d tensors", p.Output, len(blocks[k]), len(p.Tensors))
		}
		own := DeclaredPredictor{Output: p.Output, Deep: p.Deep}
		for j, b := range blocks[k] {
			own.Terms = append(own.Terms, DeclaredTerm{p.Tensors[j], b})
			for _, c := range b.Term.Columns() {
				if _, ok := doc.Columns[c]; !ok {
					return nil, fmt.Errorf("term %q reads column %q, of which it does not say where its values are", b.Term.Name(), c)
				}
			}
		}
		d.Predictors = append(d.Predictors, own)
	}
	return d, nil
}
