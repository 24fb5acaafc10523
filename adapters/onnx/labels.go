package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/wire"
)

// MetadataLabels is the entry of a file's metadata_props in which its writer says what
// the numbers of a network stand for that was trained on text: the JSON of Labels, whose
// format is LabelsFormat. Other runtimes pass it over; who feeds them has to code the
// text as it says.
const (
	MetadataLabels = "pho.labels"
	LabelsFormat   = "pho.labels/1"
)

// Labels are the texts behind numbers.
type Labels struct {
	// Columns are the inputs that stand for columns of text: level i of a column, from
	// 0, is fed as the number i.
	Columns map[string][]string
	// Response is the column of the response, and Classes are its texts: class i was
	// trained as the number i. "": the response held numbers.
	Response string
	Classes  []string
}

type labelsJSON struct {
	Format   string              `json:"format"`
	Columns  map[string][]string `json:"columns,omitempty"`
	Response string              `json:"response,omitempty"`
	Classes  []string            `json:"classes,omitempty"`
}

// Encode is the text of the metadata entry; the same for equal labels.
func (l *Labels) Encode() (string, error) {
	text, err := json.Marshal(labelsJSON{LabelsFormat, l.Columns, l.Response, l.Classes})
	if err == nil && len(text) > maxDeclaration {
		err = fmt.Errorf("onnx: the labels of text columns take %d bytes, at most %d are read back", len(text), maxDeclaration)
	}
	return string(text), err
}

// Labels reads what the file says of text; nil: nothing. An entry that does not make
// sense is an error.
func (g *Graph) Labels() (*Labels, error) {
	text, found, err := g.metadata(MetadataLabels)
	if !found {
		return nil, nil
	}
	var l *Labels
	if err == nil {
		l, err = parseLabels(text)
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: the metadata entry %q, which says what numbers stand for text, is damaged or of a later version: %w; "+
			"write the network again, or remove the entry and code the columns as numbers", MetadataLabels, err)
	}
	return l, nil
}

func parseLabels(text string) (*Labels, error) {
	var doc labelsJSON
	if err := wire.JSON([]byte(text), &doc); err != nil {
		return nil, err
	}
	if doc.Format != LabelsFormat {
		return nil, fmt.Errorf("its format is %q, this version reads %q", doc.Format, LabelsFormat)
	}
	if (doc.Response == "") != (len(doc.Classes) == 0) {
		return nil, fmt.Errorf("response %q with %d classes", doc.Response, len(doc.Classes))
	}
	for name, levels := range doc.Columns {
		sorted := slices.Sorted(slices.Values(levels))
		if len(levels) == 0 || len(slices.Compact(sorted)) != len(levels) {
			return nil, fmt.Errorf("column %q has %d levels, and no two may be equal", name, len(levels))
		}
	}
	return &Labels{doc.Columns, doc.Response, doc.Classes}, nil
}

// CodeTexts is b with numbers next to the texts of those columns that levels name: level i of a column is the number i.
// A truth value is the level that is the same one, however the two are written; data.MissingLevel, if it is no level, is NaN.
// Columns without levels are as they are; b is not changed. Another text that is no level is a data.UnseenLevelError.
func CodeTexts(b *data.Batch, columns []string, levels map[string][]string) (*data.Batch, error) {
	out := b.Slice(0, b.Rows())
	for _, name := range columns {
		levels := levels[name]
		if levels == nil {
			continue
		}
		text, err := b.Texts(name)
		if err != nil {
			return nil, err
		}
		var orders [][]string
		if b.Categorical(name) {
			own, err := b.Codes(name)
			if err != nil {
				return nil, err
			}
			orders = own.Declared
		}
		place := placesOf(levels)
		x, codes := make([]float64, b.Rows()), make([]int32, b.Rows())
		own := append(slices.Clip(levels), data.MissingLevel)
		for i := range x {
			code, known := place[text(i)]
			if !known && text(i) == data.MissingLevel {
				x[i], codes[i] = math.NaN(), int32(len(levels))
				continue
			}
			if !known {
				return nil, &data.UnseenLevelError{Column: name, Level: text(i), Row: b.Row(i), Known: levels, Reason: fmt.Sprintf(
					"is unknown: the network was trained on the texts %.80q, and %q is none of them: leave such rows out, or train again with them", levels, text(i))}
			}
			x[i], codes[i] = float64(code), code
		}
		if err := errors.Join(out.SetNumeric(name, x), out.SetCodes(name, data.Codes{Index: codes, Levels: own, Declared: orders})); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placesOf are the places of levels by text, of truth values by all their texts.
func placesOf(levels []string) map[string]int32 {
	place := make(map[string]int32, len(levels))
	for i, level := range levels {
		place[level] = int32(i)
	}
	for i, level := range levels {
		for _, text := range data.Truths(level) {
			if _, taken := place[text]; !taken {
				place[text] = int32(i)
			}
		}
	}
	return place
}
