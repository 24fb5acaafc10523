package family

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/wire"
)

// MarshalBinary writes e for DecodeExposure; equal sums have equal bytes.
func (e *Exposure) MarshalBinary() ([]byte, error) {
	b := wire.AppendFloats(nil, e.cuts)
	for _, v := range [][]float64{e.events, e.ended, e.within, {e.eta}} {
		b = wire.AppendNumbers(b, v)
	}
	return b, nil
}

// DecodeExposure reads what MarshalBinary wrote. Damaged bytes are an error: cuts that
// NewExposure refuses, sums of events or of hazard ratios below 0, too few or too many bytes.
func DecodeExposure(raw []byte) (*Exposure, error) {
	r := wire.NewReader(raw)
	cuts := r.Floats()
	if r.Err() == nil && r.Left() != 8*(3*(len(cuts)+1)+1) {
		r.Fail("%d bytes for %d intervals", r.Left(), len(cuts)+1)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("family cox: damaged sums of exposure: %w", err)
	}
	e, err := NewExposure(cuts)
	if err != nil {
		return nil, err
	}
	eta := make([]float64, 1)
	for _, v := range [][]float64{e.events, e.ended, e.within, eta} {
		r.Numbers(v)
	}
	e.eta = eta[0]
	for j := range e.events {
		if e.events[j] < 0 || math.IsNaN(e.events[j]) || e.ended[j] < 0 || e.within[j] < 0 {
			return nil, fmt.Errorf("family cox: damaged sums of exposure: interval %d has %v events and hazard ratios of %v", j+1, e.events[j], e.ended[j])
		}
	}
	return e, r.Done()
}
