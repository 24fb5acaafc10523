package decompose

import (
	"bytes"
	"encoding/json"
	"slices"
)

// partsOf are the values of a list, or the names and values of an object in turn, whose text is known to
// be JSON without spaces around it. Decoding would look at each byte several times, and a term may hold
// long vectors.
func partsOf(text []byte) (parts [][]byte) {
	depth, from := 0, 1
	end := func(i int) {
		if part := trimmed(text[from:i]); len(part) > 0 {
			parts = append(parts, part)
		}
		from = i + 1
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				end(i)
			}
		case ',', ':':
			if depth == 1 {
				end(i)
			}
		}
	}
	return parts
}

// validJSON is json.Valid, but quick with long strings: it leaves out the insides of strings without escapes, which
// are looked through for control characters alone.
func validJSON(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return json.Valid(text)
	}
	short := make([]byte, 0, 1024)
	for i, part := range bytes.Split(text, []byte{'"'}) {
		switch {
		case i%2 == 0:
			short = append(short, part...)
		case slices.ContainsFunc(part, func(c byte) bool { return c < ' ' }):
			return false
		}
		short = append(short, '"')
	}
	return json.Valid(short[:len(short)-1])
}

// endOfString is where the string that begins at i has its second quotation mark.
func endOfString(text []byte, i int) int {
	for {
		first := i + 1
		i = first + bytes.IndexByte(text[first:], '"')
		before := text[first:i]
		if slashes := len(before) - len(bytes.TrimRight(before, `\`)); slashes%2 == 0 {
			return i
		}
	}
}

// trimmed is text without JSON's spaces around it.
func trimmed(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }
