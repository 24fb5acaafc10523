package family

import (
	"bytes"
	"math"
	"testing"
)

// exposed are sums over some rows; of an interval without rows too.
func exposed(t testing.TB, cuts []float64) *Exposure {
	t.Helper()
	e, err := NewExposure(cuts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		e.Add(0.2+float64(i)/8, 1+float64(i%2), math.Sin(float64(i)), i%4 > 0)
	}
	return e
}

func TestExposureIsWrittenAndRead(t *testing.T) {
	for _, cuts := range [][]float64{nil, {1, 2.5}, {1, 2, 50, 60}} {
		e := exposed(t, cuts)
		raw, err := e.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeExposure(raw)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := back.MarshalBinary(); !bytes.Equal(again, raw) || back.LogLik() != e.LogLik() {
			t.Errorf("cuts %v: log-likelihood %v, read back %v", cuts, e.LogLik(), back.LogLik())
		}
		for n := range raw {
			if _, err := DecodeExposure(raw[:n]); err == nil {
				t.Errorf("%d of %d bytes are no error", n, len(raw))
			}
		}
	}
}

func FuzzDecodeExposure(f *testing.F) {
	for _, cuts := range [][]float64{nil, {1, 2.5}} {
		raw, err := exposed(f, cuts).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := DecodeExposure(raw)
		if err != nil {
			return
		}
		if again, err := e.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%x is read as %x: %v", raw, again, err)
		}
		_ = e.Merge(e.New())
		e.LogLik()
		_, _ = e.Hazard()
	})
}
