package files

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// Bounds on Excel workbooks (ECMA-376), which are ZIP archives of XML.
const (
	maxEntries  = 10_000
	maxXML      = 2 << 30  // bytes of an entry
	freeXML     = 16 << 20 // of an entry that may be of any ratio
	maxRatio    = 250      // of an entry's bytes to those that it is compressed to, beyond freeXML
	maxXMLDepth = 64
	maxColumns  = 16_384 // of a sheet, as in Excel
)

// workbook is a sheet of an Excel workbook.
type workbook struct {
	files  map[string]*zip.File
	sheet  string   // the entry's name
	shared []string // texts that cells point to
	marks  []string // of missing values
}

// openWorkbook finds the sheet of that name; "": the first.
func openWorkbook(f data.File, sheet string, marks []string) (*workbook, error) {
	z, err := zip.NewReader(f, f.Size())
	if err != nil {
		return nil, fmt.Errorf("it is no whole Excel workbook: %w", err)
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("its archive has %d entries; %d are possible", len(z.File), maxEntries)
	}
	w := &workbook{files: map[string]*zip.File{}, marks: marks}
	for _, entry := range z.File {
		w.files[strings.TrimPrefix(entry.Name, "/")] = entry
	}
	if err := w.find(sheet); err != nil {
		return nil, err
	}
	if w.files["xl/sharedStrings.xml"] != nil {
		err = w.readShared()
	}
	return w, err
}

// find finds the sheet's entry.
func (w *workbook) find(sheet string) error {
	var names, ids []string
	err := w.elements("xl/workbook.xml", func(e xml.StartElement, _ *xml.Decoder) (bool, error) {
		if e.Name.Local == "sheet" {
			names, ids = append(names, attribute(e, "name")), append(ids, relation(e))
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("the workbook has no sheet")
	}
	at := 0
	for sheet != "" && names[at] != sheet {
		if at++; at == len(names) {
			return fmt.Errorf("the workbook has no sheet %q; it has %.200q", sheet, names)
		}
	}
	return w.elements("xl/_rels/workbook.xml.rels", func(e xml.StartElement, _ *xml.Decoder) (bool, error) {
		if e.Name.Local == "Relationship" && attribute(e, "Id") == ids[at] {
			target := attribute(e, "Target")
			if w.sheet = strings.TrimPrefix(target, "/"); !strings.HasPrefix(target, "/") {
				w.sheet = path.Join("xl", target)
			}
		}
		return false, nil
	})
}

// readShared reads the texts that cells point to.
func (w *workbook) readShared() error {
	return w.elements("xl/sharedStrings.xml", func(e xml.StartElement, d *xml.Decoder) (bool, error) {
		if e.Name.Local != "si" {
			return false, nil
		}
		text, err := textIn(d)
		w.shared = append(w.shared, text)
		return true, err
	})
}

// textIn is the text of <t> elements up to the end of the element that has just begun, those that say
// how it is pronounced left out.
func textIn(d *xml.Decoder) (string, error) {
	var text strings.Builder
	var open []string
	for {
		t, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if open = append(open, t.Name.Local); len(open) > maxXMLDepth {
				return "", errors.New("its XML is too deep")
			}
		case xml.EndElement:
			if len(open) == 0 {
				return text.String(), nil
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if n := len(open); n > 0 && open[n-1] == "t" && open[0] != "rPh" {
				text.Write(t)
			}
		}
	}
}

// elements calls visit for each element of an entry; visit tells whether it has read the element to its end.
func (w *workbook) elements(name string, visit func(xml.StartElement, *xml.Decoder) (bool, error)) (err error) {
	entry := w.files[name]
	if entry == nil {
		return fmt.Errorf("the workbook has no %s: it is damaged, or something else", name)
	}
	r, err := entry.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	most := int64(min(maxXML, freeXML+maxRatio*entry.CompressedSize64))
	d := xml.NewDecoder(&bounded{r, most})
	for depth := 0; ; {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		switch t := t.(type) {
		case xml.StartElement:
			var read bool
			if read, err = visit(t, d); !read {
				depth++
			}
		case xml.EndElement:
			depth--
		}
		if depth > maxXMLDepth {
			err = errors.New("its XML is too deep")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// bounded reads at most so many bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("it is far larger than what it is compressed to: save the sheet as CSV if it is meant so")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// relation is the id of an element's relationship.
func relation(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// rows gives the rows that have a value; the first has the names of the columns.
func (w *workbook) rows(write func([]string) error) ([]string, error) {
	var names, cells []string
	var text []bool
	line, column := 0, 0
	flush := func() error {
		defer func() { cells = cells[:0] }()
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		switch {
		case len(cells) == 0:
			return nil
		case names == nil:
			names, text = append([]string{}, cells...), make([]bool, len(cells))
			return write(names)
		case len(cells) > len(names):
			return fmt.Errorf("row %d has a value in column %d, and the names in the first row end before", line, len(cells))
		}
		return write(append(cells, make([]string, len(names)-len(cells))...))
	}
	err := w.elements(w.sheet, func(e xml.StartElement, d *xml.Decoder) (bool, error) {
		switch e.Name.Local {
		case "row":
			if err := flush(); err != nil {
				return false, err
			}
			line, column = line+1, 0
			if r, err := strconv.Atoi(attribute(e, "r")); err == nil {
				line = r
			}
		case "c":
			if r := attribute(e, "r"); r != "" {
				column = columnOf(r)
			}
			if column < 0 || column >= maxColumns {
				return false, fmt.Errorf("row %d: %q is the place of no cell", line, attribute(e, "r"))
			}
			cell, isText, err := w.cell(attribute(e, "t"), d)
			if err != nil {
				return false, fmt.Errorf("row %d, column %d: %w", line, column+1, err)
			}
			for len(cells) <= column {
				cells = append(cells, "")
			}
			cells[column] = cell
			if isText && column < len(text) && !marksMissing(cell, w.marks) {
				text[column] = true
			}
			column++
			return true, nil
		}
		return false, nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil && names == nil {
		err = errors.New("the sheet is empty")
	}
	var texts []string
	for i, is := range text {
		if is {
			texts = append(texts, names[i])
		}
	}
	return texts, err
}

// columnOf is the column, from 0, of a cell such as BC12; -1: it is none.
func columnOf(place string) int {
	n := 0
	for _, c := range place {
		if c < 'A' || c > 'Z' {
			break
		}
		if n = 26*n + int(c-'A') + 1; n > maxColumns {
			break
		}
	}
	return n - 1
}

// cell reads a cell of a type, up to its end. Dates are the numbers that Excel holds.
func (w *workbook) cell(kind string, d *xml.Decoder) (cell string, text bool, err error) {
	for depth, inValue := 0, false; ; {
		t, err := d.Token()
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == "is" {
				cell, err = textIn(d)
				if err != nil {
					return "", false, err
				}
				continue
			}
			if depth++; depth > maxXMLDepth {
				return "", false, errors.New("its XML is too deep")
			}
			inValue = t.Name.Local == "v"
		case xml.EndElement:
			if depth--; depth < 0 {
				return w.value(kind, cell)
			}
			inValue = false
		case xml.CharData:
			if inValue {
				cell += string(t)
			}
		}
	}
}

// value is what a cell of a type holds, and whether that is text.
func (w *workbook) value(kind, cell string) (string, bool, error) {
	switch kind {
	case "s":
		if cell == "" {
			return "", false, nil
		}
		at, err := strconv.Atoi(cell)
		if err != nil || at < 0 || at >= len(w.shared) {
			return "", false, fmt.Errorf("it points to text %.20q, and there are %d: the workbook is damaged", cell, len(w.shared))
		}
		return w.shared[at], true, nil
	case "b":
		if cell == "1" {
			return "True", false, nil
		}
		return "False", false, nil
	case "inlineStr", "str", "e", "d": // text, that of a formula, an error such as #N/A, a date as text
		return cell, true, nil
	}
	return cell, false, nil
}
