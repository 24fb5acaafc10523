package basis

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/basis/internal/knot"
)

// floats64 is a vector that is base64 in JSON. It is a text, not JSON, to the encoder, which would look at
// each byte of JSON again.
type floats64 []float64

func (f floats64) MarshalText() ([]byte, error) {
	raw := make([]byte, 8*len(f))
	for i, v := range f {
		binary.LittleEndian.PutUint64(raw[8*i:], math.Float64bits(v))
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

func (f *floats64) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return fmt.Errorf("%d bytes are not a vector of 64-bit numbers", len(raw))
	}
	*f = make([]float64, len(raw)/8)
	for i := range *f {
		(*f)[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if !knot.Finite((*f)[i]) {
			return fmt.Errorf("number %d of a vector is %v", i+1, (*f)[i])
		}
	}
	return nil
}
