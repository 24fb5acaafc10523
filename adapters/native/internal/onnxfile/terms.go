package native

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/onnxpb"
)

// term writes a block of predictor k.
func (e *exporter) term(k int, block decompose.Block) error {
	name := block.Term.Name()
	at := fmt.Sprintf("%s.%d", name, k)
	switch t := block.Term.(type) {
	case *decompose.LinearTerm:
		e.addend(k, at, t.Column, block.Coef)
		return nil
	case *decompose.Tap:
		x, ok := e.seen[name]
		if !ok {
			return fmt.Errorf("term %q has no network", name)
		}
		e.addend(k, at, x, block.Coef)
		return nil
	}
	x, ok := e.seen[name]
	if !ok {
		var err error
		if x, err = e.basis(block.Term); err != nil {
			return fmt.Errorf("term %q: %w", name, err)
		}
		// A Clip without bounds marks the columns as a basis: the structure is the spline
		// space and not the larger one of all piecewise polynomials.
		x = e.node("Clip", name+".basis", []string{x})
		e.seen[name] = x
	}
	e.declared[k] = append(e.declared[k], onnx.DeclaredTerm{Tensor: x, Block: block})
	w := name + fmt.Sprintf(".%d.coef", k)
	e.b.AddDouble(w, []int{len(block.Coef), 1}, block.Coef...)
	e.sums[k] = append(e.sums[k], e.single(at+".effect", e.node("MatMul", at+".product", []string{x, w})))
	return nil
}

// Formula terms are computed in float64, whatever the type of the network: their
// values are then the terms' own, and the declaration in the metadata holds exactly.

// double is a tensor of the network's type as float64.
func (e *exporter) double(x string) string {
	if e.kind == onnxpb.TensorProto_DOUBLE {
		return x
	}
	if to, ok := e.doubles[x]; ok {
		return to
	}
	e.doubles[x] = e.node("Cast", x+".double", []string{x}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	return e.doubles[x]
}

// single is a float64 tensor in the network's type.
func (e *exporter) single(name, x string) string {
	if e.kind == onnxpb.TensorProto_DOUBLE {
		return x
	}
	return e.node("Cast", name, []string{x}, onnxpb.Int("to", int64(e.kind)))
}

// exact adds a float64 initializer.
func (e *exporter) exact(name string, shape []int, values ...float64) string {
	e.b.AddDouble(name, shape, values...)
	return name
}

// What package basis makes of formulas, as far as it can be written.
type (
	smooth interface {
		Plain() *basis.SmoothTerm
		By() (column, level string)
	}
	product interface {
		Margins() ([]*basis.SmoothTerm, bool)
		By() (column, level string)
	}
)

// basis writes the columns of a term in float64, N x d.
func (e *exporter) basis(t decompose.Term) (string, error) {
	name := t.Name()
	switch t := t.(type) {
	case *basis.FactorTerm:
		return e.onehot(name, t.Columns()[0], t.Levels(), onnxpb.TensorProto_DOUBLE)
	case smooth:
		x, err := e.spline(name, t.Plain())
		if err != nil {
			return "", err
		}
		return e.by(name, x, t)
	case product:
		margins, ok := t.Margins()
		if !ok {
			break
		}
		x, width := "", 1
		for i, m := range margins {
			at := fmt.Sprintf("%s.margin%d", name, i)
			own, err := e.spline(at, m)
			if err != nil {
				return "", err
			}
			if x == "" {
				x, width = own, m.Dim()
				continue
			}
			x = e.rowProduct(at, x, width, own, m.Dim())
			width *= m.Dim()
		}
		return e.by(name, x, t)
	}
	return "", fmt.Errorf("it has no counterpart in ONNX here: linear terms, factors, smooths of one column and their tensor products (te, ti) have")
}

// by multiplies the columns x of a smooth with its by column, or with the
// indicator of its level.
func (e *exporter) by(name, x string, t interface{ By() (column, level string) }) (string, error) {
	column, level := t.By()
	if column == "" {
		return x, nil
	}
	factor := e.double(column)
	if level != "" {
		var err error
		if factor, err = e.onehot(name+".by", column, []string{level}, onnxpb.TensorProto_DOUBLE); err != nil {
			return "", err
		}
	}
	return e.node("Mul", name+".times", []string{x, factor}), nil
}

// rowProduct is the row-wise tensor product of a (N x p) and b (N x q).
func (e *exporter) rowProduct(name, a string, p int, b string, q int) string {
	left, right := make([]int64, p*q), make([]int64, p*q)
	for i := range left {
		left[i], right[i] = int64(i/q), int64(i%q)
	}
	e.b.AddInts(name+".left", left...)
	e.b.AddInts(name+".right", right...)
	a = e.node("Gather", name+".a", []string{a, name + ".left"}, onnxpb.Int("axis", 1))
	b = e.node("Gather", name+".b", []string{b, name + ".right"}, onnxpb.Int("axis", 1))
	return e.node("Mul", name+".product", []string{a, b})
}

// spline writes the columns of a smooth of one column, N x d: which piece x is in,
// the place u in it from 0 to 1, and the piece's polynomials in u. Equal bases, such
// as those of the levels of a by factor, are written once.
func (e *exporter) spline(name string, t *basis.SmoothTerm) (string, error) {
	pieces, ok := t.Pieces()
	if !ok {
		return "", fmt.Errorf("a thin plate spline of this order has no counterpart in ONNX here: use m=2, or bs=\"ps\", \"cr\" or \"bs\"")
	}
	spec, err := t.MarshalJSON()
	if err != nil {
		return "", err
	}
	if x, ok := e.splines[string(spec)]; ok {
		return x, nil
	}
	breaks, degree := pieces.Breaks, pieces.Degree
	coef, err := pieceCoefficients(t, breaks, degree)
	if err != nil {
		return "", err
	}
	x := e.double(t.Columns()[0])
	if pieces.Period != 0 {
		x = e.folded(name, x, breaks[0], pieces.Period)
	}
	// Pieces: below the first break, between breaks, above the last one. The number of
	// breaks that x has reached is the number of its piece.
	m, d := len(breaks)+1, t.Dim()
	origin, width := pieceFrames(breaks)
	above := e.node("GreaterOrEqual", name+".above", []string{x, e.exact(name+".breaks", []int{m - 1}, breaks...)})
	ones := e.node("Cast", name+".steps", []string{above}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	e.b.AddInts(name+".axis", 1)
	count := e.node("ReduceSum", name+".reached", []string{ones, name + ".axis"}, onnxpb.Int("keepdims", 0))
	piece := e.node("Cast", name+".piece", []string{count}, onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
	of := func(what string, values []float64, columns int) string {
		table := e.exact(name+"."+what+"s", []int{m, columns}, values...)
		return e.node("Gather", name+"."+what, []string{table, piece}, onnxpb.Int("axis", 0))
	}
	u := e.node("Sub", name+".from", []string{x, of("origin", origin, 1)})
	u = e.node("Div", name+".place", []string{u, of("width", width, 1)})
	columns := of(fmt.Sprintf("coefficient%d", degree), coef[degree*m*d:], d)
	for p := degree - 1; p >= 0; p-- { // Horner's scheme
		own := of(fmt.Sprintf("coefficient%d", p), coef[p*m*d:][:m*d], d)
		columns = e.node("Mul", fmt.Sprintf("%s.times%d", name, p), []string{columns, u})
		columns = e.node("Add", fmt.Sprintf("%s.plus%d", name, p), []string{columns, own})
	}
	e.splines[string(spec)] = columns
	return columns, nil
}

// folded takes x into the period that begins at low: x - period floor((x - low)/period).
func (e *exporter) folded(name, x string, low, period float64) string {
	p := e.exact(name+".period", []int{1}, period)
	turns := e.node("Sub", name+".offset", []string{x, e.exact(name+".low", []int{1}, low)})
	turns = e.node("Floor", name+".turns", []string{e.node("Div", name+".periods", []string{turns, p})})
	return e.node("Sub", name+".folded", []string{x, e.node("Mul", name+".whole", []string{turns, p})})
}

// pieceFrames gives each piece its origin and width: the outer ones have those of
// their neighbours, mirrored at the break.
func pieceFrames(breaks []float64) (origin, width []float64) {
	n := len(breaks)
	origin, width = append(origin, breaks[0]), append(width, breaks[1]-breaks[0])
	for i := range n - 1 {
		origin, width = append(origin, breaks[i]), append(width, breaks[i+1]-breaks[i])
	}
	return append(origin, breaks[n-1]), append(width, breaks[n-1]-breaks[n-2])
}

// pieceCoefficients interpolates each column on each piece: row p m + i holds the
// coefficients of u^p on piece i (m pieces, d columns).
func pieceCoefficients(t decompose.Term, breaks []float64, degree int) ([]float64, error) {
	m, d := len(breaks)+1, t.Dim()
	origin, width := pieceFrames(breaks)
	coef := make([]float64, m*(degree+1)*d)
	for i := range m {
		points := degree + 1
		at := func(l int) float64 { return float64(l) / float64(points-1) }
		switch {
		case i == 0:
			points, at = 2, func(l int) float64 { return float64(-l) }
		case i == m-1:
			points, at = 2, func(l int) float64 { return float64(l) }
		case degree == 0:
			at = func(int) float64 { return 0.5 }
		}
		x := make([]float64, points)
		vandermonde := mat.NewDense(points, points, nil)
		for l := range points {
			x[l] = origin[i] + width[i]*at(l)
			for p, v := 0, 1.0; p < points; p++ {
				vandermonde.Set(l, p, v)
				v *= at(l)
			}
		}
		b := data.NewBatch(points, 0)
		if err := b.SetNumeric(t.Columns()[0], x); err != nil {
			return nil, err
		}
		values := mat.NewDense(points, d, nil)
		if err := t.Eval(values, b); err != nil {
			return nil, err
		}
		var c mat.Dense
		if err := c.Solve(vandermonde, values); err != nil {
			return nil, err
		}
		for p := range points {
			if p <= degree {
				copy(coef[(p*m+i)*d:][:d], c.RawRowView(p))
			}
		}
	}
	return coef, nil
}

// features writes the last hidden layers of all feature networks.
func (e *exporter) features(plans []*towerPlan, towers []*tower[float64]) error {
	for i, p := range plans {
		if p.deep {
			continue
		}
		for g := range p.groups() {
			var u string
			switch {
			case p.of >= 0:
				u = e.product(p, plans[p.of], g)
			case len(p.factors) > 0:
				x, err := e.inputs(p.term(g), p, towers[i])
				if err != nil {
					return fmt.Errorf("term %q: %w", p.term(g), err)
				}
				u = e.layers(p.term(g), x, towers[i].chain.Layers, g)
			default:
				x := e.standardised(p.term(g), p.columns[g], p.mean[g*p.numeric:][:p.numeric], p.sd[g*p.numeric:][:p.numeric])
				u = e.layers(p.term(g), x, towers[i].chain.Layers, g)
			}
			e.seen[p.term(g)] = e.node("Identity", p.tap(g), []string{u})
		}
	}
	return nil
}

// product is the row-wise tensor product of two learned bases.
func (e *exporter) product(p, from *towerPlan, g int) string {
	pair := p.pairs[g]
	return e.rowProduct(p.term(g), e.seen[from.term(pair[0])], from.q, e.seen[from.term(pair[1])], from.q)
}
