package pack_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/internal/pack"
)

func written() []byte {
	b := pack.Bool(pack.Uint(nil, 300), true)
	b = pack.Floats(pack.Float(b, math.Copysign(0, -1)), []float64{1, math.Inf(1)})
	return pack.Bytes(pack.Strings(b, []string{"", "ü"}), []byte{7})
}

// TestReadBack: what was written is read; cut anywhere it is an error, and so is a byte more.
func TestReadBack(t *testing.T) {
	read := func(raw []byte) (ok bool, err error) {
		r := pack.NewReader(raw)
		ok = r.Uint(300) == 300 && r.Bool() && math.Signbit(r.Float()) && slices.Equal(r.Floats(), []float64{1, math.Inf(1)}) &&
			slices.Equal(r.Strings(), []string{"", "ü"}) && bytes.Equal(r.Bytes(), []byte{7})
		return ok, r.Close()
	}
	raw := written()
	if ok, err := read(raw); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	for n := range raw {
		if _, err := read(raw[:n]); err == nil {
			t.Errorf("%d bytes of %d are no error", n, len(raw))
		}
	}
	if _, err := read(append(raw, 0)); err == nil {
		t.Error("a byte more is no error")
	}
}

// TestBounds: numbers beyond the most, and counts beyond what is left, are errors.
func TestBounds(t *testing.T) {
	for what, read := range map[string]func(r *pack.Reader){
		"Uint":  func(r *pack.Reader) { r.Uint(299) },
		"Count": func(r *pack.Reader) { r.Count(8) },
		"Bool":  func(r *pack.Reader) { r.Bool() },
	} {
		r := pack.NewReader(pack.Uint(nil, 300))
		if read(r); !r.Failed() {
			t.Errorf("%s takes 300", what)
		}
	}
}
