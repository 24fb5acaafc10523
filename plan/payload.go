package plan

import (
	"fmt"
	"strings"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// Kinds of payloads.
const (
	kindScanned    = "scanned/1"
	kindStatistics = "statistics/2"
)

// Payload is what a pass adds up over rows.
type Payload interface {
	MarshalBinary() ([]byte, error)
}

// kindOf names what p is in a part's header.
func kindOf(p Payload) (string, error) {
	switch p.(type) {
	case *decompose.Scanned:
		return kindScanned, nil
	case *decompose.Statistics:
		return kindStatistics, nil
	}
	return "", fmt.Errorf("plan: a %T is no payload of a part", p)
}

// decodePayload reads what was encoded.
func decodePayload(kind string, raw []byte) (Payload, error) {
	switch kind {
	case kindScanned:
		return decompose.DecodeScanned(raw, decodeSums)
	case kindStatistics:
		s := new(decompose.Statistics)
		return s, s.UnmarshalBinary(raw)
	}
	return nil, fmt.Errorf("what it holds, %q, is not known here; is the part from another version?", kind)
}

// add adds b, of other rows, to a. b is not used afterwards.
func add(a, b Payload) error {
	switch x := a.(type) {
	case *decompose.Scanned:
		if y, ok := b.(*decompose.Scanned); ok {
			return x.Merge(y)
		}
	case *decompose.Statistics:
		if y, ok := b.(*decompose.Statistics); ok {
			return x.Merge(y)
		}
	}
	return fmt.Errorf("a %T and a %T do not add up", a, b)
}

// decodeSums reads the sums of all kinds that passes of a decomposition have.
func decodeSums(kind string, raw []byte) (decompose.Sums, error) {
	name, _, _ := strings.Cut(kind, "/")
	switch name {
	case "basis":
		return basis.DecodeSums(kind, raw)
	}
	return nil, fmt.Errorf("sums of kind %.40q are not known here; are they from another version?", kind)
}
