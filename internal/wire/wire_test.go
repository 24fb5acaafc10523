package wire_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/pho-go/pho/internal/wire"
)

func written() []byte {
	b := wire.AppendInt(nil, -7)
	b = wire.AppendFloat(b, math.Copysign(0, -1))
	b = wire.AppendBool(b, true)
	b = wire.AppendText(b, "Zürich")
	b = wire.AppendFloats(b, []float64{1, math.Inf(-1), math.NaN()})
	b = wire.AppendFloats(b, nil)
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
	r := wire.NewReader(wire.AppendInt(nil, 1<<40))
	if v := r.Floats(); v != nil || r.Err() == nil || r.Left() != 0 {
		t.Errorf("%d numbers of a count without numbers: %v", len(v), r.Err())
	}
	if r := wire.NewReader([]byte{2}); r.Bool() || r.Err() == nil {
		t.Error("2 is yes or no")
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
