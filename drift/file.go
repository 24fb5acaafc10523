package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Format is the version of the file of a state.
const Format = "pho.monitor/1"

// document is the file: JSON, a line for each source and each period.
type document struct {
	Format        string           `json:"format"`
	Decomposition Decomposition    `json:"decomposition"`
	Settings      Settings         `json:"settings"`
	Sources       []Source         `json:"sources"`
	Periods       map[string]*cell `json:"periods"`
}

// ErrDamaged is in the errors of Read for a file that is not as it was written.
var ErrDamaged = errors.New("it is damaged or was edited: its digest (sha256) is another one")

// digestName begins the last field, which holds the SHA-256 of what stands before it.
const digestName = ",\n\"sha256\":\""

// Write writes the state. Equal states have equal bytes.
func (s *State) Write(w io.Writer) error {
	doc := document{Format, s.of, s.settings, s.sources, s.cells}
	if doc.Sources == nil {
		doc.Sources = []Source{}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("drift: writing the state: %w", err)
	}
	raw = bytes.TrimSuffix(raw, []byte("}"))
	_, err = fmt.Fprintf(w, "%s%s%s\"}\n", raw, digestName, digest(raw))
	return err
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Read reads what Write wrote. Errors: another format or version, a damaged file (ErrDamaged).
func Read(r io.Reader) (*State, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("drift: reading the state: %w", err)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&head); err != nil && (len(raw) == 0 || !bytes.HasPrefix(raw, []byte(`{"format":"pho.monitor/`))) {
		return nil, fmt.Errorf("drift: not the state of a monitor: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("drift: the state cannot be read: %w (%w)", ErrDamaged, err)
	}
	if head.Format != Format {
		if strings.HasPrefix(head.Format, "pho.monitor/") {
			return nil, fmt.Errorf("drift: the state is of format %q, and this version reads %q: use the version that wrote it", clip(head.Format), Format)
		}
		return nil, fmt.Errorf("drift: not the state of a monitor: its format is %q, not %q", clip(head.Format), Format)
	}
	at := bytes.LastIndex(raw, []byte(digestName))
	if at < 0 || string(raw[at:]) != digestName+digest(raw[:at])+"\"}\n" {
		return nil, fmt.Errorf("drift: the state cannot be read: %w", ErrDamaged)
	}
	var doc document
	if err := json.Unmarshal(append(raw[:at:at], '}'), &doc); err != nil {
		return nil, fmt.Errorf("drift: the state cannot be read: %w", err)
	}
	s, err := doc.state()
	if err != nil {
		return nil, fmt.Errorf("drift: the state cannot be read: %w", err)
	}
	return s, nil
}

// state checks what a file says, which anybody may have written with a digest that fits.
func (doc *document) state() (*State, error) {
	s, err := New(doc.Decomposition, doc.Settings)
	if err != nil {
		return nil, err
	}
	last := ""
	for _, source := range doc.Sources {
		if checkLabel(source.ID) != nil || source.ID <= last || source.Rows < 0 {
			return nil, errors.New("its sources are not in order")
		}
		last = source.ID
	}
	s.sources = doc.Sources
	for period, c := range doc.Periods {
		if c == nil || checkLabel(period) != nil {
			return nil, fmt.Errorf("period %q is none", clip(period))
		}
		if err := c.check(&s.of, &s.layout); err != nil {
			return nil, fmt.Errorf("period %q: %w", clip(period), err)
		}
		s.cells[period] = c
	}
	return s, nil
}
