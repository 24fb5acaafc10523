package formula

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is the longest formula that is read, in bytes.
const MaxLength = 64 << 10

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // text: the name; quoted: it stood in backquotes
	tokenNumber           // number
	tokenString           // text
	tokenSign             // text: one of ~ + - : = ( ) , * / ^ ...
)

type token struct {
	kind     tokenKind
	pos, end int
	text     string
	number   float64
	quoted   bool
}

// is reports whether the token is the sign s.
func (t token) is(s string) bool { return t.kind == tokenSign && t.text == s }

// isDot reports whether the token is the term that stands for all other columns.
func (t token) isDot() bool { return t.kind == tokenName && !t.quoted && t.text == "." }

// String says what the token is, for messages.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the formula"
	case tokenName:
		return "the name " + quoteName(clip(t.text))
	case tokenNumber:
		return "the number " + clip(t.text)
	case tokenString:
		return "the string " + strconv.Quote(clip(t.text))
	}
	return strconv.Quote(t.text)
}

// clip shortens a piece of input for a message.
func clip(s string) string {
	rs := []rune(s)
	if len(rs) <= 40 {
		return s
	}
	return string(rs[:40]) + "..."
}

// lex cuts the text into tokens; the last one is tokenEnd.
func (f *Formula) lex() ([]token, error) {
	if len(f.Text) > MaxLength {
		return nil, f.Errorf(MaxLength, "a formula may be %d bytes long, this one has %d: split it into several formulas", MaxLength, len(f.Text))
	}
	for i, r := range f.Text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(f.Text[i:]); size == 1 {
			return nil, f.Errorf(i, "the text is not UTF-8")
		}
	}
	var tokens []token
	for pos := 0; ; {
		r, size := utf8.DecodeRuneInString(f.Text[pos:])
		var t token
		var err error
		switch {
		case size == 0:
			return append(tokens, token{kind: tokenEnd, pos: pos, end: pos}), nil
		case unicode.IsSpace(r):
			pos += size
			continue
		case r == '`':
			if t, err = f.quoted(pos, '`', "backquote", tokenName); err == nil && t.text == "" {
				err = f.Errorf(pos, "an empty name")
			}
			t.quoted = true
		case r == '"' || r == '\'':
			t, err = f.quoted(pos, byte(r), "quote", tokenString)
		case isDigit(r) || r == '.' && pos+1 < len(f.Text) && isDigit(rune(f.Text[pos+1])):
			t, err = f.number(pos)
		case isNameStart(r):
			t = f.word(pos)
		case strings.ContainsRune("~+-:=(),*/^|%<>![]{}&;$@?\\#", r):
			t = token{kind: tokenSign, pos: pos, end: pos + size, text: string(r)}
		default:
			err = f.Errorf(pos, "%q is not part of a formula; a column's name with such characters goes into backquotes", r)
		}
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		pos = t.end
	}
}

// quoted reads up to the closing quote; \ takes the next quote or \ literally.
func (f *Formula) quoted(pos int, quote byte, what string, kind tokenKind) (token, error) {
	var w strings.Builder
	for i := pos + 1; i < len(f.Text); i++ {
		c := f.Text[i]
		switch {
		case c == quote:
			return token{kind: kind, pos: pos, end: i + 1, text: w.String()}, nil
		case c == '\\':
			i++
			if i == len(f.Text) || f.Text[i] != '\\' && f.Text[i] != quote {
				return token{}, f.Errorf(i-1, `a \ may only stand before another \ or the closing quote; write \\`)
			}
			c = f.Text[i]
		}
		w.WriteByte(c)
	}
	return token{}, f.Errorf(pos, "this %s is never closed", what)
}

func (f *Formula) number(pos int) (token, error) {
	end := pos
	digits := func() {
		for end < len(f.Text) && isDigit(rune(f.Text[end])) {
			end++
		}
	}
	digits()
	if end < len(f.Text) && f.Text[end] == '.' {
		end++
		digits()
	}
	if end < len(f.Text) && (f.Text[end] == 'e' || f.Text[end] == 'E') {
		mantissa := end
		end++
		if end < len(f.Text) && (f.Text[end] == '+' || f.Text[end] == '-') {
			end++
		}
		if exponent := end; func() bool { digits(); return end == exponent }() {
			end = mantissa
		}
	}
	if r, _ := utf8.DecodeRuneInString(f.Text[end:]); end < len(f.Text) && isNamePart(r) {
		return token{}, f.Errorf(pos, "a number runs into a name here; a column whose name begins with a digit goes into backquotes")
	}
	text := f.Text[pos:end]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return token{}, f.Errorf(pos, "the number %s is out of range", clip(text))
	}
	return token{kind: tokenNumber, pos: pos, end: end, text: text, number: v}, nil
}

func (f *Formula) word(pos int) token {
	end := pos
	for _, r := range f.Text[pos:] {
		if !isNamePart(r) {
			break
		}
		end += utf8.RuneLen(r)
	}
	return token{kind: tokenName, pos: pos, end: end, text: f.Text[pos:end]}
}

func isDigit(r rune) bool     { return '0' <= r && r <= '9' }
func isNameStart(r rune) bool { return r == '.' || r == '_' || unicode.IsLetter(r) }
func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// isName reports whether s reads as a column's name without backquotes.
func isName(s string) bool {
	if s == "TRUE" || s == "FALSE" || s == "." || !utf8.ValidString(s) {
		return false
	}
	for i, r := range s {
		if i == 0 && !isNameStart(r) || i == 1 && s[0] == '.' && isDigit(r) || !isNamePart(r) {
			return false
		}
	}
	return s != ""
}
