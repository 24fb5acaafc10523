package basis

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// normJSON is a tensorNorm in a file: the product and the map of each margin.
type normJSON struct {
	Of   json.RawMessage `json:"norm_of"`
	Maps []*matrixJSON   `json:"maps"`
}

type matrixJSON struct {
	Rows   int      `json:"rows"`
	Cols   int      `json:"cols"`
	Values floats64 `json:"values"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *tensorNorm) MarshalJSON() ([]byte, error) {
	of, err := t.of.MarshalJSON()
	if err != nil {
		return nil, err
	}
	j := normJSON{Of: of}
	for _, m := range t.maps {
		if m == nil {
			j.Maps = append(j.Maps, nil)
			continue
		}
		r, c := m.Dims()
		j.Maps = append(j.Maps, &matrixJSON{r, c, mat.DenseCopyOf(m).RawMatrix().Data})
	}
	return json.Marshal(j)
}

// isNorm tells the spec of a tensorNorm from that of a tensor product.
func isNorm(spec []byte) bool {
	var j struct {
		Of json.RawMessage `json:"norm_of"`
	}
	return json.Unmarshal(spec, &j) == nil && j.Of != nil
}

func (c Classes) decodeNorm(spec []byte) (decompose.Term, error) {
	var j normJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	of, err := c.decodeTensor(j.Of)
	if err != nil {
		return nil, err
	}
	t := &tensorNorm{}
	switch term := of.(type) {
	case *TensorTerm:
		t.of = term
	case sparseTensor:
		t.of = term.TensorTerm
	}
	if len(j.Maps) != len(t.of.margins) {
		return nil, fmt.Errorf("%d maps for %d margins", len(j.Maps), len(t.of.margins))
	}
	for i, m := range j.Maps {
		if m == nil {
			t.maps = append(t.maps, nil)
			continue
		}
		if dim := t.of.margins[i].dim(); m.Rows != dim || m.Cols < 1 || m.Cols > dim || len(m.Values) != m.Rows*m.Cols {
			return nil, fmt.Errorf("a map of %d x %d with %d values for a margin of %d columns", m.Rows, m.Cols, len(m.Values), dim)
		}
		t.maps = append(t.maps, mat.NewDense(m.Rows, m.Cols, m.Values))
	}
	return t, nil
}
