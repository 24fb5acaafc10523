package decompose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrDigest is in the errors of Read for a document that is not the one that was
// written: it is damaged, or was edited and not signed (Sign).
// A document without the digest is refused, too: else one flipped bit in the name of its field
// would switch the check off. White space between tokens is not covered, so that an editor may
// change line ends.
var ErrDigest = errors.New("it does not end in the digest (sha256) of its content")

// digestName is the last field of a document. What it holds is the SHA-256 of the
// document without it and without white space between tokens: so it is of one file
// with what it is of, and an editor or a copy may change how lines end.
const digestName = `,"sha256":"`

// Sign returns doc, a JSON object, indented as Encode does and with a digest that
// fits: for a document that was edited on purpose. Fields, their order and the digits
// of numbers stay.
func Sign(doc []byte) ([]byte, error) {
	compact, _, err := splitDigest(doc)
	if err != nil {
		return nil, err
	}
	return signed(compact)
}

// signed adds the digest to a compact document and indents it.
func signed(compact []byte) ([]byte, error) {
	text := append(bytes.TrimSuffix(bytes.Clone(compact), []byte("}")), digestName+digest(compact)+`"}`...)
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, fmt.Errorf("decompose: writing the decomposition: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// checkDigest refuses a document that does not end in its digest.
func checkDigest(doc []byte) error {
	compact, sum, err := splitDigest(doc)
	switch {
	case err != nil:
		return err
	case sum != digest(compact): // or there is none
		return fmt.Errorf("decompose: the decomposition is not as it was written, but damaged or edited: %w", ErrDigest)
	}
	return nil
}

// splitDigest takes the digest from a document, "" if there is none, and white space.
func splitDigest(doc []byte) (compact []byte, sum string, err error) {
	var out bytes.Buffer
	if err := json.Compact(&out, doc); err != nil {
		return nil, "", fmt.Errorf("decompose: not a decomposition: %w", err)
	}
	compact = out.Bytes()
	if !bytes.HasPrefix(compact, []byte("{")) {
		return nil, "", errors.New("decompose: not a decomposition: it is no JSON object")
	}
	at := len(compact) - len(digestName) - hex.EncodedLen(sha256.Size) - len(`"}`)
	if at < 0 || !bytes.HasPrefix(compact[at:], []byte(digestName)) || !bytes.HasSuffix(compact, []byte(`"}`)) {
		return compact, "", nil
	}
	sum = string(compact[at+len(digestName) : len(compact)-len(`"}`)])
	return append(compact[:at:at], '}'), sum, nil
}

func digest(compact []byte) string {
	sum := sha256.Sum256(compact)
	return hex.EncodeToString(sum[:])
}
