package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MetadataResponse is the entry of a file's metadata_props in which its writer says what
// the network was trained to predict: the JSON of Response, whose format is
// ResponseFormat. Other runtimes pass it over.
const (
	MetadataResponse = "pho.response"
	ResponseFormat   = "pho.response/1"
)

// Response is what a network was trained to predict.
// It names the aim of training, not its result: theta and the like are estimated again by a
// decomposition, on its own rows.
type Response struct {
	Column string
	Family string // its distribution, as family.Parse has it
	Event  string // column of its events, if it is a time that may be censored; "": none
}

type responseJSON struct {
	Format string `json:"format"`
	Column string `json:"column"`
	Family string `json:"family"`
	Event  string `json:"event,omitempty"`
}

// Encode is the text of the metadata entry; the same for equal responses.
func (r *Response) Encode() (string, error) {
	text, err := json.Marshal(responseJSON{ResponseFormat, r.Column, r.Family, r.Event})
	return string(text), err
}

// Response reads what the file says of its response; nil: nothing. An entry that does
// not make sense is an error.
func (g *Graph) Response() (*Response, error) {
	text, found, err := g.metadata(MetadataResponse)
	if !found {
		return nil, nil
	}
	var doc responseJSON
	if err == nil {
		err = json.Unmarshal([]byte(text), &doc)
	}
	switch {
	case err != nil:
	case doc.Format != ResponseFormat:
		err = fmt.Errorf("its format is %q, this version reads %q", doc.Format, ResponseFormat)
	case doc.Column == "" || doc.Family == "":
		err = errors.New("it lacks the column or the family")
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: the metadata entry %q, which says what the network was trained to predict, is damaged or of a later version: %w; "+
			"write the network again, or remove the entry and name the family", MetadataResponse, err)
	}
	return &Response{doc.Column, doc.Family, doc.Event}, nil
}

// metadata is the text of a metadata entry: one that is there several times, or is longer
// than an entry of ours can be, is an error.
func (g *Graph) metadata(key string) (text string, found bool, err error) {
	texts := g.g.Metadata(key)
	if len(texts) > 0 {
		text = texts[len(texts)-1]
	}
	switch {
	case len(texts) > 1:
		err = fmt.Errorf("it is there %d times", len(texts))
	case len(text) > maxDeclaration:
		err = fmt.Errorf("it has %d bytes, at most %d are read", len(text), maxDeclaration)
	}
	return text, len(texts) > 0, err
}
