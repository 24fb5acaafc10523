package decompose

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/internal/base/wire"
	"github.com/pho-go/pho/penalty"
)

// blocksJSON is a list of blocks for each predictor. Terms are listed once and
// referred to by position, so that terms which are one value stay one.
type blocksJSON struct {
	Terms      []termJSON    `json:"terms"`
	Predictors [][]blockJSON `json:"predictors"`
}

type termJSON struct {
	Kind Kind            `json:"kind"`
	Spec json.RawMessage `json:"spec"`
}

type blockJSON struct {
	Term         int           `json:"term"`
	Constraint   string        `json:"constraint,omitempty"`
	Normal       string        `json:"normal,omitempty"`
	Map          *denseJSON    `json:"map,omitempty"`
	Penalties    []summandJSON `json:"penalties,omitempty"`
	Select       bool          `json:"select,omitempty"`
	Standardised bool          `json:"standardised,omitempty"`
	Keep         bool          `json:"keep,omitempty"`
	Base         []int         `json:"base,omitempty"`
	Norm         []int         `json:"norm,omitempty"`
}

// summandJSON is one penalty: the upper triangle of S, row by row, or its diagonal if all else is zero. Vectors are
// little-endian float64 in base64, as in the specs of thin plate splines.
type summandJSON struct {
	Dim      int      `json:"dim"`
	S        string   `json:"s"`
	Diagonal string   `json:"diagonal,omitempty"` // in place of S, which is empty
	SP       *float64 `json:"sp,omitempty"`       // fixed
	Link     string   `json:"link,omitempty"`
}

type denseJSON struct {
	Rows   int    `json:"rows"`
	Cols   int    `json:"cols"`
	Values string `json:"values"`
}

// EncodeBlocks writes the blocks of each predictor as JSON for DecodeBlocks:
// terms with their specs, penalties, constraints and what they are scaled by.
// Coefficients are left out: they are the network's. Every term, those of Base and
// Coordinates too, must implement json.Marshaler.
func EncodeBlocks(predictors [][]Block) (json.RawMessage, error) {
	e := blockEncoder{doc: blocksJSON{Terms: []termJSON{}, Predictors: [][]blockJSON{}}, place: map[Term]int{}}
	for _, blocks := range predictors {
		own := []blockJSON{}
		for _, b := range blocks {
			own = append(own, e.block(b))
		}
		e.doc.Predictors = append(e.doc.Predictors, own)
	}
	if err := errors.Join(e.faults...); err != nil {
		return nil, err
	}
	return json.Marshal(e.doc)
}

// blockEncoder lists terms as they occur.
type blockEncoder struct {
	doc    blocksJSON
	place  map[Term]int
	faults []error
}

func (e *blockEncoder) term(t Term) int {
	if i, ok := e.place[t]; ok {
		return i
	}
	enc, ok := t.(json.Marshaler)
	if !ok {
		e.faults = append(e.faults, fmt.Errorf("decompose: term %q is a %T, which cannot be written", t.Name(), t))
		return 0
	}
	spec, err := enc.MarshalJSON()
	if err != nil {
		e.faults = append(e.faults, fmt.Errorf("decompose: term %q: %w", t.Name(), err))
	}
	e.place[t] = len(e.doc.Terms)
	e.doc.Terms = append(e.doc.Terms, termJSON{t.Kind(), spec})
	return e.place[t]
}

func (e *blockEncoder) terms(list []Term) (at []int) {
	for _, t := range list {
		at = append(at, e.term(t))
	}
	return at
}

func (e *blockEncoder) block(b Block) blockJSON {
	j := blockJSON{
		Term: e.term(b.Term), Normal: encodeFloats(b.Constraint.normal), Select: b.Select,
		Standardised: b.Coordinates.standardised, Keep: b.isKept(), Base: e.terms(b.Base), Norm: e.terms(b.Coordinates.norm),
	}
	if k := b.Constraint.kind; k != unconstrained && k != allZero {
		j.Constraint = b.Constraint.String()
	}
	if m := b.Coordinates.toRaw; m != nil {
		r, c := m.Dims()
		j.Map = &denseJSON{r, c, encodeFloats(mat.DenseCopyOf(m).RawMatrix().Data)}
	}
	for i, s := range b.Penalty.S {
		p := summandJSON{Dim: s.SymmetricDim()}
		if isDiagonal(s) {
			p.Diagonal = encodeFloats(linalg.Diagonal(s))
		} else {
			p.S = encodeFloats(upper(linalg.Dense(s)))
		}
		if i < len(b.Penalty.SP) && b.Penalty.SP[i] >= 0 {
			p.SP = &b.Penalty.SP[i]
		}
		if i < len(b.Penalty.Link) {
			p.Link = b.Penalty.Link[i]
		}
		j.Penalties = append(j.Penalties, p)
	}
	return j
}

// DecodeBlocks reads what EncodeBlocks wrote. decode rebuilds a term from its kind
// and spec (basis.Decode). A document that does not make sense is an error: unknown
// fields, matrices that do not fit their terms, numbers that are not finite.
func DecodeBlocks(doc json.RawMessage, decode func(Kind, json.RawMessage) (Term, error)) ([][]Block, error) {
	var j blocksJSON
	if err := wire.JSON(doc, &j); err != nil {
		return nil, fmt.Errorf("decompose: not a list of blocks: %w", err)
	}
	terms := make([]Term, len(j.Terms))
	for i, t := range j.Terms {
		var err error
		if terms[i], err = decode(t.Kind, t.Spec); err != nil {
			return nil, fmt.Errorf("decompose: term %d of a list of blocks: %w", i+1, err)
		}
	}
	out := make([][]Block, len(j.Predictors))
	for k, blocks := range j.Predictors {
		for i := range blocks {
			b, err := blocks[i].decoded(terms)
			if err == nil {
				err = checkBlock(b)
			}
			if err != nil {
				return nil, fmt.Errorf("decompose: block %d of predictor %d: %w", i+1, k+1, err)
			}
			out[k] = append(out[k], b)
		}
	}
	return out, nil
}

// decoded is the block; terms are those of the document.
func (j *blockJSON) decoded(terms []Term) (Block, error) {
	d := blockDecoder{terms: terms}
	term := d.list(j.Term)
	if len(term) == 0 {
		return Block{}, errors.Join(d.faults...)
	}
	b := Block{Term: term[0], Select: j.Select, Base: d.list(j.Base...)}
	var normal []float64
	if j.Normal != "" {
		normal = d.floats("constraint", j.Normal, b.Term.Dim())
	}
	var err error
	if b.Constraint, err = j.constraint(normal); err != nil {
		return b, err
	}
	if b.Coordinates, err = d.coordinates(j, b.Term.Dim()); err != nil {
		return b, err
	}
	if b.Penalty, err = d.penalty(j, b.freeDim()); err != nil {
		return b, err
	}
	if err := errors.Join(d.faults...); err != nil {
		return b, err
	}
	return b, semidefinite(b.Penalty)
}

// blockDecoder gathers the faults of a block.
type blockDecoder struct {
	terms  []Term
	faults []error
}

func (d *blockDecoder) list(at ...int) (list []Term) {
	for _, i := range at {
		if i < 0 || i >= len(d.terms) {
			d.faults = append(d.faults, fmt.Errorf("it refers to term %d of %d", i+1, len(d.terms)))
			continue
		}
		list = append(list, d.terms[i])
	}
	return list
}

// floats are n numbers; nil after a fault.
func (d *blockDecoder) floats(what, text string, n int) []float64 {
	v, err := decodeFloats(text)
	if err == nil && len(v) != n {
		err = fmt.Errorf("%d numbers, want %d", len(v), n)
	}
	if err != nil {
		d.faults = append(d.faults, fmt.Errorf("its %s: %w", what, err))
		return nil
	}
	return v
}

func (d *blockDecoder) coordinates(j *blockJSON, dim int) (Coordinates, error) {
	norm, m := d.list(j.Norm...), j.Map
	switch {
	case m != nil && j.Standardised:
		return Raw(), errors.New("it has a map and standardised coordinates, which are others")
	case m == nil && j.Standardised:
		return Standardised(), nil
	case m == nil:
		return Raw(norm...), nil
	case m.Rows != dim || m.Cols < 1 || m.Cols > dim:
		return Raw(), fmt.Errorf("its map is %d x %d, the basis has %d columns", m.Rows, m.Cols, dim)
	}
	v := d.floats("map", m.Values, dim*m.Cols)
	if v == nil {
		return Raw(), errors.Join(d.faults...)
	}
	return Mapped(mat.NewDense(m.Rows, m.Cols, v), norm...), nil
}

// penalty is about dim coefficients.
func (d *blockDecoder) penalty(j *blockJSON, dim int) (p penalty.Penalty, err error) {
	for i, s := range j.Penalties {
		if s.Dim != dim {
			return p, fmt.Errorf("its penalty %d is for %d columns, want %d", i+1, s.Dim, dim)
		}
		what := fmt.Sprintf("penalty %d", i+1)
		if s.Diagonal != "" {
			if v := d.floats(what, s.Diagonal, dim); v != nil {
				p.S = append(p.S, mat.NewDiagDense(dim, v))
			}
		} else if v := d.floats(what, s.S, dim*(dim+1)/2); v != nil {
			p.S = append(p.S, fromUpper(dim, v))
		}
	}
	p.SP, p.Link = fixedAndLinks(j.Penalties)
	return p, nil
}

// constraint is that of the names in files: a free one has none, a kept one a field of
// its own.
func (j *blockJSON) constraint(normal []float64) (Constraint, error) {
	switch {
	case j.Keep && j.Constraint != "":
		return Free(), fmt.Errorf("it is kept as it is, and takes no constraint %q", j.Constraint)
	case j.Keep:
		return Kept(), nil
	case j.Constraint == "":
		return Free(), nil
	}
	for _, c := range []Constraint{SumToZero(), Treatment(), Orthogonal(normal)} {
		if c.String() == j.Constraint {
			return c, nil
		}
	}
	return Free(), fmt.Errorf("the constraint %q is not known to this version", j.Constraint)
}

// fixedAndLinks are nil if no penalty has any.
func fixedAndLinks(penalties []summandJSON) (sp []float64, links []string) {
	var anySP, anyLink bool
	for _, p := range penalties {
		v := -1.0
		if p.SP != nil {
			v, anySP = *p.SP, true
		}
		sp, links, anyLink = append(sp, v), append(links, p.Link), anyLink || p.Link != ""
	}
	if !anySP {
		sp = nil
	}
	if !anyLink {
		links = nil
	}
	return sp, links
}

// semidefinite refuses penalties that reward roughness: smoothing parameters would
// be sought for ever.
func semidefinite(p penalty.Penalty) error {
	for i, s := range p.S {
		if isDiagonal(s) {
			if slices.ContainsFunc(linalg.Diagonal(s), func(v float64) bool { return !(v >= 0) }) {
				return fmt.Errorf("its penalty %d is not positive semi-definite: its diagonal has numbers below 0", i+1)
			}
			continue
		}
		var e mat.EigenSym
		if !e.Factorize(s, false) {
			return fmt.Errorf("its penalty %d has no eigenvalues", i+1)
		}
		v := e.Values(nil)
		if largest := v[len(v)-1]; v[0] < -1e-8*math.Abs(largest) || !(largest >= 0) {
			return fmt.Errorf("its penalty %d is not positive semi-definite: it has the eigenvalue %g", i+1, v[0])
		}
	}
	return nil
}

func upper(s *mat.SymDense) (v []float64) {
	n := s.SymmetricDim()
	for i := range n {
		for j := i; j < n; j++ {
			v = append(v, s.At(i, j))
		}
	}
	return v
}

func fromUpper(n int, v []float64) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, v[0])
			v = v[1:]
		}
	}
	return s
}

func encodeFloats(v []float64) string {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func decodeFloats(text string) ([]float64, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	if len(raw)%8 != 0 {
		return nil, fmt.Errorf("%d bytes are not a vector of 64-bit numbers", len(raw))
	}
	v := make([]float64, len(raw)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, fmt.Errorf("number %d is %v", i+1, v[i])
		}
	}
	return v, nil
}
