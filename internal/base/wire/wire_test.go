package wire_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/pho-go/pho/internal/base/wire"
)

func written() []byte {
	b := wire.AppendInt(nil, -7)
	b = wire.AppendFloat(b, math.Copysign(0, -1))
	b = wire.AppendBool(b, true)
	b = wire.AppendText(b, "Zürich")
	b = wire.AppendFloats(b, []float64{1, math.Inf(-1), math.NaN()})
	b = wire.AppendFloats(b, nil)
	b = wire.AppendTexts(b, []string{"ü", ""})
	b = wire.AppendText(b, []byte{7})
	return wire.AppendNumbers(b, []float64{3})
}

// again reads what written wrote, and writes it.
func again(raw []byte) ([]byte, error) {
	r := wire.NewReader(raw)
	b := wire.AppendInt(nil, r.Int())
	b = wire.AppendFloat(b, r.Float())
	b = wire.AppendBool(b, r.Bool())
	b = wire.AppendText(b, r.Text())
	b = wire.AppendFloats(b, r.Floats())
	b = wire.AppendFloats(b, r.Floats())
	b = wire.AppendTexts(b, r.Texts())
	b = wire.AppendText(b, r.Bytes())
	last := make([]float64, 1)
	r.Numbers(last)
	return wire.AppendNumbers(b, last), r.Done()
}

func TestThereAndBack(t *testing.T) {
	raw := written()
	got, err := again(raw)
	if err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%x, want %x: %v", got, raw, err)
	}
	for n := range raw {
		if _, err := again(raw[:n]); err == nil {
			t.Errorf("%d of %d bytes are no error", n, len(raw))
		}
	}
	if _, err := again(append(raw, 0)); err == nil {
		t.Error("a byte too many is no error")
	}
	for _, n := range []int{-1, 4} {
		if r := wire.NewReader([]byte{1, 2, 3}); r.Raw(n) != nil || r.Err() == nil {
			t.Errorf("%d of 3 bytes are no error", n)
		}
	}
	if r := wire.NewReader([]byte{1, 2, 3}); !bytes.Equal(r.Raw(2), []byte{1, 2}) || r.Left() != 1 {
		t.Errorf("not the first 2 of 3 bytes: %v", r.Err())
	}
	r := wire.NewReader(wire.AppendInt(nil, 1<<40))
	if v := r.Floats(); v != nil || r.Err() == nil || r.Left() != 0 {
		t.Errorf("%d numbers of a count without numbers: %v", len(v), r.Err())
	}
	if r := wire.NewReader([]byte{2}); r.Bool() || r.Err() == nil {
		t.Error("2 is yes or no")
	}
}

// TestBounds: numbers out of their bounds, counts beyond what is left and lists out of order are
// errors, after which all is zero; what is just within them is none.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		what      string
		raw, good []byte
		read      func(r *wire.Reader)
	}{
		{"AtMost", wire.AppendInt(nil, 300), wire.AppendInt(nil, 299), func(r *wire.Reader) { r.AtMost(299) }},
		{"NonNegative", wire.AppendInt(nil, -1), wire.AppendInt(nil, 0), func(r *wire.Reader) { r.NonNegative() }},
		{"Count", append(wire.AppendInt(nil, 2), make([]byte, 17)...), append(wire.AppendInt(nil, 2), make([]byte, 18)...), func(r *wire.Reader) { r.Count(9) }},
		{"Texts", append(wire.AppendInt(nil, 2), make([]byte, 15)...), append(wire.AppendInt(nil, 2), make([]byte, 16)...), func(r *wire.Reader) { r.Texts() }},
		{"IncreasingTexts", wire.AppendTexts(nil, []string{"a", "a"}), wire.AppendTexts(nil, []string{"a", "b"}), func(r *wire.Reader) { r.IncreasingTexts() }},
		{"Increasing", wire.AppendFloats(nil, []float64{2, 1}), wire.AppendFloats(nil, []float64{1, 2}), func(r *wire.Reader) { r.Increasing() }},
		{"Increasing of -0", wire.AppendFloats(nil, []float64{math.Copysign(0, -1)}), wire.AppendFloats(nil, []float64{0}), func(r *wire.Reader) { r.Increasing() }},
		{"Increasing of NaN", wire.AppendFloats(nil, []float64{math.NaN()}), wire.AppendFloats(nil, []float64{math.Inf(-1)}), func(r *wire.Reader) { r.Increasing() }},
	} {
		good := wire.NewReader(c.good)
		if c.read(good); good.Err() != nil {
			t.Errorf("%s: %v", c.what, good.Err())
		}
		r := wire.NewReader(c.raw)
		if c.read(r); r.Err() == nil || r.Left() != 0 || r.Int() != 0 {
			t.Errorf("%s: %x is no error, or is read on", c.what, c.raw)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(written())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, err := again(raw); err == nil && !bytes.Equal(got, raw) {
			t.Errorf("%x is read as %x", raw, got)
		}
	})
}
