package native

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// fixedProjection is X alpha of a predictor whose deep part was orthogonalized online, in
// the response's units: the formula's terms with alpha as coefficients.
type fixedProjection struct {
	intercept float64
	blocks    []decompose.Block
}

func newFixedProjection(a *network.Projection, s *additive.Part, scale float64) *fixedProjection {
	blocks, means := s.Raw(scaleBy(slices.Clone(a.Alpha), scale))
	return &fixedProjection{intercept: scale*a.Intercept + means, blocks: blocks}
}

// subtracted are the blocks with beta - alpha as coefficients of the formula's terms,
// which come first.
func (a *fixedProjection) subtracted(blocks []decompose.Block) []decompose.Block {
	blocks = slices.Clone(blocks)
	for i, own := range a.blocks {
		coef := slices.Clone(blocks[i].Coef)
		for j, v := range own.Coef {
			coef[j] -= v
		}
		blocks[i].Coef = coef
	}
	return blocks
}

// Unprojected is a model that was trained with Deep.Orthogonalize, with the projection left
// off: eta = X beta + zeta, zeta as the network computes it. The part of zeta in the span
// of X never reached the loss, so it is arbitrary; the method exists to show what that does
// to predictions. Models trained without are returned as they are.
func (m *Model) Unprojected() *Model {
	u := *m
	u.projected = make([]*fixedProjection, len(m.projected))
	return &u
}

// PredictOnline is eta (n x K, link scale) with U projected on the orthogonal complement of
// the structured columns of the rows of b, as training does with each batch. It exists to
// show the faults of that (Rügamer 2023, section 3.1, Limitations): a row's prediction
// depends on the rows that come with it, and with fewer rows than structured columns the
// deep part vanishes. Predict has neither fault, and is what is evaluated and saved. The
// model must have been trained with Deep.Orthogonalize.
func (m *Model) PredictOnline(b *data.Batch) (*mat.Dense, error) {
	if !slices.ContainsFunc(m.net.Towers, func(t *network.Tower[float64]) bool { return t.Plan.Orthogonalize }) {
		return nil, fmt.Errorf("native: the model was not trained with Deep.Orthogonalize: use Predict")
	}
	if b.Rows() == 0 {
		return nil, fmt.Errorf("native: there are no rows to predict")
	}
	in, err := m.inputs(b)
	if err != nil {
		return nil, err
	}
	for _, s := range m.parts {
		x := make([]float64, in.N*s.Width())
		if err := s.Eval(x, s.Width(), b); err != nil {
			return nil, err
		}
		in.Structured = append(in.Structured, x)
	}
	all := &network.Batch[float64]{}
	in.Part(all, 0, in.N)
	eta := m.net.Replica().Forward(all, nn.Mode{Workers: 1}, true)
	return mat.NewDense(in.N, len(m.names), slices.Clone(eta)), nil
}
