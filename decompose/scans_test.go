package decompose

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// text are sums that are what they are written as.
type text string

func (s text) Kind() string                   { return "text/1" }
func (s text) Add(Sums) error                 { return nil }
func (s text) MarshalBinary() ([]byte, error) { return []byte(s), nil }

func decodeText(kind string, raw []byte) (Sums, error) {
	if kind != "text/1" {
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
	return text(raw), nil
}

// TestScannedBytes: cut anywhere, or with a byte more, they are an error; so are kinds that nobody knows.
func TestScannedBytes(t *testing.T) {
	raw, err := (&Scanned{[]Sums{text("a"), text("")}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := DecodeScanned(raw, decodeText); err != nil || len(s.Sums) != 2 || s.Sums[0] != text("a") {
		t.Errorf("%v, %v", s, err)
	}
	for n := range raw {
		if _, err := DecodeScanned(raw[:n], decodeText); err == nil {
			t.Errorf("%d bytes of %d are no error", n, len(raw))
		}
	}
	if _, err := DecodeScanned(append(raw, 0), decodeText); err == nil {
		t.Error("a byte more is no error")
	}
	broken := errors.New("broken")
	if _, err := DecodeScanned(raw, func(string, []byte) (Sums, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// FuzzDecodeScanned: damaged scans are errors.
func FuzzDecodeScanned(f *testing.F) {
	raw, err := (&Scanned{[]Sums{text("a"), text("")}}).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeScanned(raw, decodeText)
		if err != nil {
			return
		}
		if again, err := s.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%x is read and written as %x: %v", raw, again, err)
		}
	})
}
