package document

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// json reads JSON, in which NaN and Infinity are numbers, as C++ writes them.
type json struct {
	scratch
	b     []byte
	at    int
	depth int
}

func (j *json) Offset() int { return j.at }

// space goes to the next byte that is none of a blank and returns it, 0 at the end.
func (j *json) space() byte {
	for ; j.at < len(j.b); j.at++ {
		switch c := j.b[j.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (j *json) Kind() Kind {
	switch c := j.space(); {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return Text
	case c == 'n':
		return Null
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'N' || c == 'I':
		return Number
	}
	return Broken
}

// list reads what stands between open and shut, by commas.
func (j *json) list(kind Kind, shut byte, item func() error) error {
	if j.Kind() != kind {
		return wanted(j, kind)
	}
	if j.depth++; j.depth > maxDepth {
		return errDeep
	}
	j.at++
	if j.space() == shut {
		j.at++
		j.depth--
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch j.space() {
		case ',':
			j.at++
		case shut:
			j.at++
			j.depth--
			return nil
		default:
			return fmt.Errorf("byte %d: %w", j.at, errBroken)
		}
	}
}

func (j *json) Object(member func(key string) error) error {
	return j.list(Object, '}', func() error {
		key, err := j.Text()
		if err != nil {
			return err
		}
		if j.space() != ':' {
			return fmt.Errorf("byte %d: %w", j.at, errBroken)
		}
		j.at++
		return member(key)
	})
}

func (j *json) Array(element func() error) error { return j.list(Array, ']', element) }

// quoted is a string with its quotes.
func (j *json) quoted() ([]byte, error) {
	if j.Kind() != Text {
		return nil, wanted(j, Text)
	}
	from := j.at
	for j.at++; j.at < len(j.b); j.at++ {
		switch j.b[j.at] {
		case '\\':
			j.at++
		case '"':
			j.at++
			return j.b[from:j.at], nil
		}
	}
	return nil, fmt.Errorf("byte %d: a text does not end", from)
}

func (j *json) Text() (string, error) {
	q, err := j.quoted()
	if err != nil {
		return "", err
	}
	plain := q[1 : len(q)-1]
	for _, c := range plain {
		if c == '\\' || c < ' ' || c > '~' {
			var s string
			if err := stdjson.Unmarshal(q, &s); err != nil {
				return "", fmt.Errorf("byte %d: %w", j.at, err)
			}
			return s, nil
		}
	}
	return string(plain), nil
}

// word is the letters and digits of a number, true or false.
func (j *json) word() ([]byte, error) {
	if j.Kind() != Number {
		return nil, wanted(j, Number)
	}
	from := j.at
	for ; j.at < len(j.b); j.at++ {
		switch c := j.b[j.at]; {
		case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			continue
		}
		break
	}
	return j.b[from:j.at], nil
}

// number is a number that as many bits hold as bits says.
func (j *json) number(bits int) (float64, error) {
	w, err := j.word()
	if err != nil {
		return 0, err
	}
	switch string(w) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	v, err := strconv.ParseFloat(string(w), bits)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("byte %d: %.40q is no number", j.at-len(w), w)
	}
	return v, nil
}

func (j *json) Number() (float64, error) { return j.number(64) }

func (j *json) single() (float32, error) {
	v, err := j.number(32)
	return float32(v), err
}

func (j *json) Skip() error {
	switch j.Kind() {
	case Object:
		return j.Object(func(string) error { return j.Skip() })
	case Array:
		return j.Array(j.Skip)
	case Text:
		_, err := j.quoted()
		return err
	case Number:
		_, err := j.word()
		return err
	case Null:
		if len(j.b)-j.at >= 4 && string(j.b[j.at:j.at+4]) == "null" {
			j.at += 4
			return nil
		}
	}
	return wanted(j, Object)
}

func (j *json) End() error {
	if j.space() != 0 || j.at < len(j.b) {
		return fmt.Errorf("byte %d: something follows the document", j.at)
	}
	return nil
}
