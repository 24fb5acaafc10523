package label

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pho-go/pho/internal/base/spelling"
)

// Limits of a labels file: its bytes, and the characters of names, units and terms, so that
// they have room on axes and in tables.
const (
	MaxFile = 1 << 20
	maxName = 60
	maxUnit = 20
)

// Read reads a labels file, JSON as docs/labels.md says. Its error joins all faults, each
// with its place. Whether columns, predictors and terms of these names exist is for Check.
func Read(r io.Reader) (*Labels, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > MaxFile:
		return nil, fmt.Errorf("the file has more than %d bytes: labels are names and units, not data", MaxFile)
	case !utf8.Valid(raw):
		return nil, errors.New("the file is not UTF-8: save it as UTF-8")
	}
	var d decoder
	l := &Labels{}
	d.object("", bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), []string{"columns", "predictors", "terms"}, func(key string, value json.RawMessage) {
		switch key {
		case "columns":
			l.Columns = d.columns(value)
		case "predictors":
			l.Predictors = d.names(key, value, maxName)
		case "terms":
			l.Terms = d.names(key, value, maxName)
		}
	})
	if len(d.faults) == 0 {
		d.faults = l.twice()
	}
	if err := joined(d.faults); err != nil {
		return nil, err
	}
	return l, nil
}

// decoder collects the faults of a file.
type decoder struct{ faults []error }

func (d *decoder) fault(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	d.faults = append(d.faults, errors.New(text))
}

// object hands over the entries of a JSON object; known are the keys that it may have, nil:
// any. encoding/json alone would take the last of two equal keys.
func (d *decoder) object(path string, raw []byte, known []string, entry func(key string, value json.RawMessage)) {
	in := json.NewDecoder(bytes.NewReader(raw))
	begin, err := in.Token()
	if err != nil {
		d.syntax(path, raw, err)
		return
	}
	if begin != json.Delim('{') {
		d.fault(path, "it must be an object, { ... }, not %s", clip(string(bytes.TrimSpace(raw))))
		return
	}
	seen := map[string]bool{}
	for in.More() {
		token, err := in.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if err == nil {
			err = in.Decode(&value)
		}
		if err != nil {
			d.syntax(path, raw, err)
			return
		}
		switch {
		case seen[key]:
			d.fault(path, "%q is there twice: keep one", clip(key))
			continue
		case known != nil && !contains(known, key):
			d.fault(path, "unknown field %q%s", clip(key), among(key, known))
			continue
		}
		seen[key] = true
		entry(key, value)
	}
	if _, err := in.Token(); err != nil {
		d.syntax(path, raw, err)
		return
	}
	if rest := bytes.TrimSpace(raw[in.InputOffset():]); len(rest) > 0 {
		d.fault(path, "more follows the closing bracket: %s", clip(string(rest)))
	}
}

// syntax says in which line JSON is broken.
func (d *decoder) syntax(path string, raw []byte, err error) {
	var broken *json.SyntaxError
	at := len(raw)
	if errors.As(err, &broken) {
		at = min(int(broken.Offset), len(raw))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	d.fault(path, "line %d is not JSON: %v", 1+bytes.Count(raw[:at], []byte("\n")), err)
}

func (d *decoder) columns(raw json.RawMessage) map[string]Column {
	out := map[string]Column{}
	d.object("columns", raw, nil, func(name string, value json.RawMessage) {
		path := fmt.Sprintf("column %q", clip(name))
		if name == "" {
			d.fault("columns", "a column without a name")
		}
		var c Column
		d.object(path, value, []string{"name", "unit", "levels", "back_transform"}, func(key string, value json.RawMessage) {
			switch key {
			case "name":
				c.Name = d.text(path+", name", value, maxName)
			case "unit":
				c.Unit = d.text(path+", unit", value, maxUnit)
			case "levels":
				c.Levels = d.names(path+", levels", value, maxName)
			case "back_transform":
				c.BackTransform = d.backTransform(path+", back_transform", value)
			}
		})
		out[name] = c
	})
	return out
}

func (d *decoder) backTransform(path string, raw json.RawMessage) *BackTransform {
	b := &BackTransform{}
	d.object(path, raw, []string{"function", "scale", "shift"}, func(key string, value json.RawMessage) {
		if key == "function" {
			b.Function = Function(d.text(path+", function", value, maxName))
			return
		}
		var v *float64
		if err := json.Unmarshal(value, &v); err != nil || v == nil {
			d.fault(path, "%s must be a number, not %s", key, clip(string(value)))
			return
		}
		switch {
		case key == "shift":
			b.Shift = *v
		case *v == 0:
			d.fault(path, "scale 0 would show all values as one: it is what a value is multiplied by, as a standard deviation")
		default:
			b.Scale = *v
		}
	})
	if err := b.fault(); err != nil {
		d.fault(path, "%v", err)
	}
	return b
}

// names reads an object of texts.
func (d *decoder) names(path string, raw json.RawMessage, most int) map[string]string {
	out := map[string]string{}
	d.object(path, raw, nil, func(key string, value json.RawMessage) {
		out[key] = d.text(fmt.Sprintf("%s, %q", path, clip(key)), value, most)
	})
	return out
}

// text reads a name that can be shown in a line.
func (d *decoder) text(path string, raw json.RawMessage, most int) string {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		d.fault(path, "it must be a text in quotes, not %s", clip(string(raw)))
		return ""
	}
	switch n := utf8.RuneCountInString(*s); {
	case strings.TrimSpace(*s) == "":
		d.fault(path, "the text is empty: leave it out to keep what the data say")
	case strings.TrimSpace(*s) != *s:
		d.fault(path, "%q begins or ends with a space: take it away", clip(*s))
	case strings.ContainsFunc(*s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }):
		d.fault(path, "%q has characters that do not print", clip(*s))
	case n > most:
		d.fault(path, "%q has %d characters, and there is room for %d", clip(*s), n, most)
	}
	return *s
}

// twice finds names that two things have.
func (l *Labels) twice() (faults []error) {
	columns := map[string]string{}
	for name, c := range l.Columns {
		if c.Name != "" {
			columns[name] = c.Name
		}
	}
	faults = append(faults, same("columns", columns)...)
	for _, name := range sortedKeys(l.Columns) {
		faults = append(faults, same(fmt.Sprintf("levels of column %q", clip(name)), l.Columns[name].Levels)...)
	}
	faults = append(faults, same("predictors", l.Predictors)...)
	return append(faults, same("terms", l.Terms)...)
}

func same(what string, names map[string]string) (faults []error) {
	first := map[string]string{}
	for _, key := range sortedKeys(names) {
		if other, ok := first[names[key]]; ok {
			faults = append(faults, fmt.Errorf("%s %q and %q are both called %q, so that nobody could tell them apart: give each a name of its own", what, clip(other), clip(key), clip(names[key])))
			continue
		}
		first[names[key]] = key
	}
	return faults
}

func contains(known []string, name string) bool {
	for _, k := range known {
		if k == name {
			return true
		}
	}
	return false
}

// among suggests the known name that is meant, or lists all of them.
func among(name string, known []string) string {
	if near := spelling.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	const most = 20
	list := make([]string, 0, most)
	for _, k := range known[:min(len(known), most)] {
		list = append(list, fmt.Sprintf("%q", clip(k)))
	}
	if more := len(known) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return "; there are " + strings.Join(list, ", ")
}

// clip shortens a piece of a file for a message.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= 60 {
		return s
	}
	return string(r[:60]) + "..."
}
