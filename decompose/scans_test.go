package decompose

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/pho-go/pho/data"
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

// scanFailing fails at one batch, and notes the rows before.
type scanFailing struct {
	Scanner
	at            int
	rows          []int64
	after, failed chan struct{} // it fails once after is closed, and closes failed
}

func (s *scanFailing) Scan(b *data.Batch) error {
	if len(s.rows) == s.at {
		if s.after != nil {
			<-s.after
		}
		if s.failed != nil {
			close(s.failed)
		}
		return fmt.Errorf("batch %d", s.at)
	}
	s.rows = append(s.rows, b.Row(0))
	return nil
}

// TestFirstFault: scanners that run at the same time see all rows in order, and the error is that of
// the first batch at which one fails.
func TestFirstFault(t *testing.T) {
	const batches = 40
	rows := data.NewTable(batches)
	rows.BatchRows = 1
	if err := rows.AddNumeric("x", make([]float64, batches)); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		failed := make(chan struct{})
		late, early, never := &scanFailing{at: 5, failed: failed}, &scanFailing{at: 4, after: failed}, &scanFailing{at: -1}
		if err := scanRows(t.Context(), rows, []string{"x"}, []Scanner{late, early, never}); err == nil || err.Error() != "batch 4" {
			t.Fatal(err)
		}
		one, other := &scanFailing{at: -1}, &scanFailing{at: -1}
		if err := scanRows(t.Context(), rows, []string{"x"}, []Scanner{one, other}); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*scanFailing{one, other} {
			for i, row := range s.rows {
				if len(s.rows) != batches || row != int64(i) {
					t.Fatal(s.rows)
				}
			}
		}
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
