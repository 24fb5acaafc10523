package wiring

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/interaction"
)

// scans are the looks at rows: at src, or the request's.
func (q *Request) scans(src data.Source) decompose.Scans { return decompose.ScansOf(q.Scans, src) }

// looks is the name of looks for terms.
func (q *Request) looks() string {
	switch q.extended {
	case 0:
		return "terms"
	case 1:
		return "extended terms"
	}
	return fmt.Sprintf("extended terms %d", q.extended)
}

// estimate finds the unknown parameters of the family.
func (q *Request) estimate(ctx context.Context, m decompose.Model, src data.Source) (family.Family, error) {
	if q.Scans == nil {
		return decompose.EstimateFamily(ctx, m, src, q.Options)
	}
	return decompose.EstimateFamilyFrom(ctx, m, q.scans(src), q.Options)
}

// DecodeSums reads what any look of Ready has seen: see decompose.DecodeSums.
func DecodeSums(kind string, raw []byte) (decompose.Sums, error) {
	for _, own := range []struct {
		kinds  string
		decode decompose.DecodeSums
	}{
		{"basis/1", basis.DecodeSums}, {"sample/2", interaction.DecodeSums}, {"propose/1", propose.DecodeSums},
		{"family/1", decompose.DecodeFamilySums}, {responsesKind, decodeResponses},
	} {
		if kind == own.kinds {
			return own.decode(kind, raw)
		}
	}
	return nil, fmt.Errorf("unknown sums %q: this version reads what it has seen of rows before a fit", kind)
}
