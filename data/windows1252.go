package data

import (
	"io"
	"unicode/utf8"
)

// windows1252 makes UTF-8 of the text of older Windows programs, of which ISO 8859-1 is a part.
type windows1252 struct {
	r    io.Reader
	raw  [bufferSize / 4]byte
	text []byte // not read yet
	err  error
}

// specials are the characters 0x80 to 0x9f; 0: there is none.
const specials = "€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ"

func (w *windows1252) Read(p []byte) (int, error) {
	if len(w.text) == 0 && w.err == nil {
		n, err := w.r.Read(w.raw[:])
		special := []rune(specials)
		w.text, w.err = w.text[:0], err
		for _, b := range w.raw[:n] {
			r := rune(b)
			if 0x80 <= b && b < 0xa0 {
				if r = special[b-0x80]; r == 0 {
					r = utf8.RuneError
				}
			}
			w.text = utf8.AppendRune(w.text, r)
		}
	}
	n := copy(p, w.text)
	w.text = w.text[n:]
	if n == 0 {
		return 0, w.err
	}
	return n, nil
}
