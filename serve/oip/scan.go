package oip

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxDepth is how deep arrays and objects may lie in each other.
const maxDepth = 64

// scanner walks through JSON once, from left to right.
type scanner struct {
	b       []byte
	at      int
	scratch []byte // of the string read last, if it had escapes
}

func (s *scanner) fail(want string) error {
	if s.at >= len(s.b) {
		return errorf("the JSON ends where %s should be", want)
	}
	end := min(len(s.b), s.at+20)
	return errorf("the JSON at byte %d should have %s, and has %q", s.at+1, want, s.b[s.at:end])
}

// peek skips space and returns the byte behind; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take skips the byte c, which must be next.
func (s *scanner) take(c byte, what string) error {
	if s.peek() != c {
		return s.fail(what)
	}
	s.at++
	return nil
}

// object calls field for each field of an object, which must read its value. name is valid
// until the next string.
func (s *scanner) object(what string, field func(name []byte) error) error {
	if err := s.take('{', what); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.at++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.fail("the name of a field")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if err := s.take(':', "a colon"); err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
		case '}':
			s.at++
			return nil
		default:
			return s.fail("a comma or }")
		}
	}
}

// array calls element for each element of an array, which must read it.
func (s *scanner) array(what string, element func() error) error {
	if err := s.take('[', what); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
		case ']':
			s.at++
			return nil
		default:
			return s.fail("a comma or ]")
		}
	}
}

// text reads a string: bytes of the JSON, or of scratch where it has escapes; valid until
// the next string.
func (s *scanner) text() ([]byte, error) {
	if err := s.take('"', "a text"); err != nil {
		return nil, err
	}
	start, ascii := s.at, true
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			out := s.b[start:s.at]
			s.at++
			if !ascii && !utf8.Valid(out) {
				return nil, errorf("the text at byte %d of the JSON is no UTF-8", start+1)
			}
			return out, nil
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			return nil, s.fail("no control character in a text")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, s.fail("the end of a text")
}

// escaped reads the rest of a string that has an escape.
func (s *scanner) escaped(start int) ([]byte, error) {
	out := append(s.scratch[:0], s.b[start:s.at]...)
	for s.at < len(s.b) {
		c := s.b[s.at]
		switch {
		case c == '"':
			s.at++
			s.scratch = out
			if !utf8.Valid(out) {
				return nil, errorf("the text at byte %d of the JSON is no UTF-8", start+1)
			}
			return out, nil
		case c == '\\':
			s.at++
			var err error
			if out, err = s.escape(out); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.fail("no control character in a text")
		default:
			out = append(out, c)
			s.at++
		}
	}
	return nil, s.fail("the end of a text")
}

// escape reads what stands behind a backslash.
func (s *scanner) escape(out []byte) ([]byte, error) {
	if s.at == len(s.b) {
		return nil, s.fail("an escape")
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := s.b[s.at]
	for i := range len(from) {
		if from[i] == c {
			s.at++
			return append(out, to[i]), nil
		}
	}
	if c != 'u' {
		return nil, s.fail("an escape")
	}
	s.at++
	r, err := s.hex()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) {
		second := rune(0)
		if s.at+1 < len(s.b) && s.b[s.at] == '\\' && s.b[s.at+1] == 'u' {
			mark := s.at
			s.at += 2
			if second, err = s.hex(); err != nil {
				return nil, err
			}
			if utf16.DecodeRune(r, second) == utf8.RuneError {
				s.at = mark // it is a character of its own
			}
		}
		r = utf16.DecodeRune(r, second)
	}
	return utf8.AppendRune(out, r), nil
}

// hex reads four hexadecimal digits.
func (s *scanner) hex() (r rune, err error) {
	for range 4 {
		if s.at == len(s.b) {
			return 0, s.fail("four hexadecimal digits")
		}
		c := s.b[s.at]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.fail("four hexadecimal digits")
		}
		r = r<<4 | rune(c)
		s.at++
	}
	return r, nil
}

// number reads a number. One beyond float64 is an error.
func (s *scanner) number() (float64, error) {
	s.peek()
	start := s.at
	digits := func() bool {
		from := s.at
		for s.at < len(s.b) && s.b[s.at]-'0' <= 9 {
			s.at++
		}
		return s.at > from
	}
	has := func(c byte) bool {
		if s.at < len(s.b) && s.b[s.at] == c {
			s.at++
			return true
		}
		return false
	}
	has('-')
	whole := s.at
	if !digits() {
		s.at = start
		return 0, s.fail("a number")
	}
	if s.b[whole] == '0' && s.at > whole+1 {
		s.at = start
		return 0, s.fail("a number without leading zeros")
	}
	short := s.at-whole <= 15
	if has('.') {
		short = false
		if !digits() {
			return 0, s.fail("digits")
		}
	}
	if has('e') || has('E') {
		short = false
		if !has('+') {
			has('-')
		}
		if !digits() {
			return 0, s.fail("digits")
		}
	}
	if short { // a whole number that float64 holds
		v := 0.0
		for _, c := range s.b[whole:s.at] {
			v = 10*v + float64(c-'0')
		}
		if whole > start {
			v = -v
		}
		return v, nil
	}
	text := s.b[start:s.at]
	v, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
	if err != nil {
		return 0, errorf("the number %.40s is beyond float64", text)
	}
	return v, nil
}

// word reads true, false or null.
func (s *scanner) word(w string) error {
	s.peek()
	if len(s.b)-s.at < len(w) || string(s.b[s.at:s.at+len(w)]) != w {
		return s.fail(w)
	}
	s.at += len(w)
	return nil
}

// boolean reads true or false.
func (s *scanner) boolean() (bool, error) {
	if s.peek() == 't' {
		return true, s.word("true")
	}
	if s.peek() != 'f' {
		return false, s.fail("true or false")
	}
	return false, s.word("false")
}

// whole reads a whole number that is not negative.
func (s *scanner) whole(what string) (int, error) {
	s.peek()
	start := s.at
	v, err := s.number()
	if err != nil {
		return 0, err
	}
	if v < 0 || v != float64(int64(v)) || v > 1<<40 {
		s.at = start
		return 0, s.fail(what)
	}
	return int(v), nil
}

// skip reads a value of any kind.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return errorf("the JSON is more than %d deep", maxDepth)
	}
	switch s.peek() {
	case '{':
		return s.object("an object", func([]byte) error { return s.skip(depth + 1) })
	case '[':
		return s.array("an array", func() error { return s.skip(depth + 1) })
	case '"':
		_, err := s.text()
		return err
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	_, err := s.number()
	return err
}
