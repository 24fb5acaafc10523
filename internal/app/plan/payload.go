package plan

import (
	"fmt"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/interaction"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/report"
)

// Kinds of payloads, each of which says its version itself.
const (
	kindScanned    = "scan"
	kindStatistics = "statistics"
	kindExplained  = "explanation"
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
	case *decompose.Explanation:
		return kindExplained, nil
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
	case kindExplained:
		return decompose.DecodeExplanation(raw, decodeSums)
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
	switch x := a.(type) {
	case *decompose.Explanation:
		if y, ok := b.(*decompose.Explanation); ok {
			return x.Merge(y)
		}
	}
	return fmt.Errorf("a %T and a %T do not add up", a, b)
}

// decodeSums reads the sums of all kinds that passes of a decomposition have.
func decodeSums(kind string, raw []byte) (decompose.Sums, error) {
	name, _, _ := strings.Cut(kind, "/")
	switch name {
	case "importance":
		return importance.DecodeSums(kind, raw)
	case "kcheck", "bins":
		return diagnostics.DecodeSums(kind, raw)
	case "examples":
		return report.DecodeSums(kind, raw)
	case "pairs":
		return interaction.DecodeSums(kind, raw)
	case "nam":
		return nam.DecodeSums(kind, raw)
	case "basis", "propose", "sample", "family", "responses":
		return wiring.DecodeSums(kind, raw)
	}
	return nil, fmt.Errorf("sums of kind %.40q are not known here; are they from another version?", kind)
}
