package plan

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// Kinds of payloads.
const (
	kindStatistics = "statistics/2"
)

// Payload is what a pass adds up over rows.
type Payload interface {
	MarshalBinary() ([]byte, error)
}

// kindOf names what p is in a part's header.
func kindOf(p Payload) (string, error) {
	switch p.(type) {
	case *decompose.Statistics:
		return kindStatistics, nil
	}
	return "", fmt.Errorf("plan: a %T is no payload of a part", p)
}

// decodePayload reads what was encoded.
func decodePayload(kind string, raw []byte) (Payload, error) {
	switch kind {
	case kindStatistics:
		s := new(decompose.Statistics)
		return s, s.UnmarshalBinary(raw)
	}
	return nil, fmt.Errorf("what it holds, %q, is not known here; is the part from another version?", kind)
}

// add adds b, of other rows, to a. b is not used afterwards.
func add(a, b Payload) error {
	switch x := a.(type) {
	case *decompose.Statistics:
		if y, ok := b.(*decompose.Statistics); ok {
			return x.Merge(y)
		}
	}
	return fmt.Errorf("a %T and a %T do not add up", a, b)
}
