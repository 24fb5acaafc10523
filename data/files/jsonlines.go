package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pho-go/pho/data"
)

// Bounds on files of JSON lines.
const (
	maxLine        = 64 << 20 // bytes of a line
	maxJSONColumns = 100_000
)

// jsonLines is a file with a JSON object in each line (jsonlines.org): its names are columns, in the
// order in which the file first shows them; one that a line leaves out, or null, is missing.
type jsonLines struct {
	file  data.File
	marks []string // of missing values
	names []string
	place map[string]int
	text  []bool // columns with texts
}

func (j *jsonLines) rows(write func([]string) error) (texts []string, err error) {
	j.place = map[string]int{}
	if err := j.each(func([]string) error { return nil }); err != nil { // all names come first
		return nil, err
	}
	if len(j.names) == 0 {
		return nil, errors.New("no line has a value")
	}
	if err := write(j.names); err != nil {
		return nil, err
	}
	for i, text := range j.text {
		if text {
			texts = append(texts, j.names[i])
		}
	}
	return texts, j.each(write)
}

// each reads the lines, and gives the cells of each in the order of names.
func (j *jsonLines) each(row func([]string) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, j.file.Size()), 1<<16)
	var cells []string
	for number := 1; ; number++ {
		line, err := readLine(r)
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if err == io.EOF {
			return nil
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err == nil {
			cells, err = j.object(line, cells)
		}
		if err == nil {
			err = row(cells)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// readLine reads a line of bounded size.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("it has more than %d bytes", maxLine)
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

// object is the cells of a line, in the memory of cells.
func (j *jsonLines) object(line []byte, cells []string) ([]string, error) {
	const want = "each line has to hold a JSON object, as {\"a\": 1, \"b\": \"x\"}"
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New(want)
	}
	cells = append(cells[:0], make([]string, len(j.names))...)
	given := make(map[int]bool, len(j.names))
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, want)
		}
		name, _ := key.(string)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		at, known := j.place[name]
		if !known {
			if len(j.names) == maxJSONColumns {
				return nil, fmt.Errorf("there are more than %d names", maxJSONColumns)
			}
			at = len(j.names)
			j.place[name] = at
			j.names, j.text, cells = append(j.names, name), append(j.text, false), append(cells, "")
		}
		if given[at] {
			return nil, fmt.Errorf("%q has two values", name)
		}
		given[at] = true
		if cells[at], err = j.cell(at, raw); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w; %s", err, want)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the object; " + want)
	}
	return cells, nil
}

// cell is a value as CSV has it; lists and objects are text.
func (j *jsonLines) cell(at int, raw []byte) (string, error) {
	switch raw[0] {
	case 'n':
		return "", nil
	case 't':
		return "True", nil
	case 'f':
		return "False", nil
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", err
		}
		j.text[at] = j.text[at] || !marksMissing(text, j.marks)
		return text, nil
	case '{', '[':
		j.text[at] = true
	}
	return string(raw), nil
}
