package basis

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// Decode rebuilds a term from its kind and its spec, which the term's
// MarshalJSON wrote: the rebuilt term evaluates to the same bits. It knows the
// terms of this package, decompose.LinearTerm and decompose.Tap; smooth classes of other
// packages are known to Classes.Decode. An unknown kind or field and a spec that does
// not make sense are errors.
func Decode(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	return Classes(nil).Decode(kind, spec)
}

// Decode is Decode of this package that knows smooths of these classes too: what
// decompose.Read and decompose.DecodeBlocks take where a formula was parsed with them.
func (c Classes) Decode(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	t, err := c.decode(kind, spec)
	switch {
	case errors.Is(err, errKind):
		return nil, fmt.Errorf("basis: terms of kind %q are not known to this version: was the file written by a newer one?", kind)
	case err != nil:
		return nil, fmt.Errorf("basis: the spec of a %s term: %w", kind, err)
	}
	return t, nil
}

var errKind = errors.New("the kind is not known")

func (c Classes) decode(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	product := kind == decompose.Linear || kind == decompose.Factor || kind == decompose.Random
	switch {
	case product && isCells(spec):
		return decodeCells(kind, spec)
	case kind == decompose.Tensor && isNorm(spec):
		return c.decodeNorm(spec)
	case kind == decompose.Tensor:
		return c.decodeTensor(spec)
	case kind == decompose.Random:
		return decodeFactorSmooth(spec)
	case kind == decompose.Linear && isRidge(spec):
		return decodeRidge(spec)
	case kind == decompose.Linear:
		return decodeLinear(spec)
	case kind == decompose.Learned:
		return decodeTap(spec)
	case kind == decompose.Factor && isOneHot(spec):
		return decodeOneHot(spec)
	case kind == decompose.Factor:
		return decodeFactor(spec)
	case kind == decompose.Smooth:
		return c.decodeSmooth(spec)
	}
	return nil, errKind
}

func decodeLinear(spec []byte) (decompose.Term, error) {
	var j struct {
		Column string `json:"column"`
	}
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if err := checkColumn(j.Column); err != nil {
		return nil, err
	}
	return &decompose.LinearTerm{Column: j.Column}, nil
}

// maxTapWidth bounds the width of a learned basis.
const maxTapWidth = 1_000_000

func decodeTap(spec []byte) (decompose.Term, error) {
	t := new(decompose.Tap)
	if err := wire.JSON(spec, t); err != nil {
		return nil, err
	}
	if t.Tensor == "" {
		return nil, errors.New("it names no tensor")
	}
	if t.Width < 1 || t.Width > maxTapWidth {
		return nil, fmt.Errorf("a width of %d: 1 to %d are possible", t.Width, maxTapWidth)
	}
	return t, nil
}
