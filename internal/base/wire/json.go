package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// JSON reads one JSON value and nothing else, with known fields only.
func JSON(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
