package decompose

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

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
	Term         int          `json:"term"`
	Constraint   string       `json:"constraint,omitempty"`
	Normal       string       `json:"normal,omitempty"`
	Map          *denseJSON   `json:"map,omitempty"`
	Penalties    []sumandJSON `json:"penalties,omitempty"`
	Select       bool         `json:"select,omitempty"`
	Standardised bool         `json:"standardised,omitempty"`
	Keep         bool         `json:"keep,omitempty"`
	Base         []int        `json:"base,omitempty"`
	Norm         []int        `json:"norm,omitempty"`
}

// sumandJSON is one penalty: the upper triangle of S, row by row. Vectors are
// little-endian float64 in base64, as in the specs of thin plate splines.
type sumandJSON struct {
	Dim  int      `json:"dim"`
	S    string   `json:"s"`
	SP   *float64 `json:"sp,omitempty"` // fixed
	Link string   `json:"link,omitempty"`
}

type denseJSON struct {
	Rows   int    `json:"rows"`
	Cols   int    `json:"cols"`
	Values string `json:"values"`
}

// EncodeBlocks writes the blocks of each predictor as JSON for DecodeBlocks:
// terms with their specs, penalties, constraints and what they are scaled by.
// Coefficients are left out: they are the network's. Every term, those of Base and
// Norm too, must implement json.Marshaler.
func EncodeBlocks(predictors [][]Block) (json.RawMessage, error) {
	doc := blocksJSON{Terms: []termJSON{}, Predictors: [][]blockJSON{}}
	place := map[Term]int{}
	var faults []error
	of := func(t Term) int {
		if i, ok := place[t]; ok {
			return i
		}
		enc, ok := t.(json.Marshaler)
		if !ok {
			faults = append(faults, fmt.Errorf("decompose: term %q is a %T, which cannot be written", t.Name(), t))
			return 0
		}
		spec, err := enc.MarshalJSON()
		if err != nil {
			faults = append(faults, fmt.Errorf("decompose: term %q: %w", t.Name(), err))
		}
		place[t] = len(doc.Terms)
		doc.Terms = append(doc.Terms, termJSON{t.Kind(), spec})
		return place[t]
	}
	each := func(terms []Term) (at []int) {
		for _, t := range terms {
			at = append(at, of(t))
		}
		return at
	}
	for _, blocks := range predictors {
		own := []blockJSON{}
		for _, b := range blocks {
			j := blockJSON{
				Term: of(b.Term), Normal: encodeFloats(b.Constraint.normal), Select: b.Select,
				Standardised: b.Coordinates.standardised, Keep: b.isKept(), Base: each(b.Base), Norm: each(b.Coordinates.norm),
			}
			if k := b.Constraint.kind; k != unconstrained && k != allZero {
				j.Constraint = b.Constraint.String()
			}
			if m := b.Coordinates.toRaw; m != nil {
				r, c := m.Dims()
				j.Map = &denseJSON{r, c, encodeFloats(mat.DenseCopyOf(m).RawMatrix().Data)}
			}
			for i, s := range b.Penalty.S {
				p := sumandJSON{Dim: s.SymmetricDim(), S: encodeFloats(upper(s))}
				if i < len(b.Penalty.SP) && b.Penalty.SP[i] >= 0 {
					p.SP = &b.Penalty.SP[i]
				}
				if i < len(b.Penalty.Link) {
					p.Link = b.Penalty.Link[i]
				}
				j.Penalties = append(j.Penalties, p)
			}
			own = append(own, j)
		}
		doc.Predictors = append(doc.Predictors, own)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// DecodeBlocks reads what EncodeBlocks wrote. decode rebuilds a term from its kind
// and spec (basis.Decode). A document that does not make sense is an error: unknown
// fields, matrices that do not fit their terms, numbers that are not finite.
func DecodeBlocks(doc json.RawMessage, decode func(Kind, json.RawMessage) (Term, error)) ([][]Block, error) {
	var j blocksJSON
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return nil, fmt.Errorf("decompose: not a list of blocks: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decompose: something follows the list of blocks")
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
			b, err := blocks[i].block(terms)
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

func (j *blockJSON) block(terms []Term) (b Block, err error) {
	var faults []error
	each := func(at ...int) (list []Term) {
		for _, i := range at {
			if i < 0 || i >= len(terms) {
				faults = append(faults, fmt.Errorf("it refers to term %d of %d", i+1, len(terms)))
				continue
			}
			list = append(list, terms[i])
		}
		return list
	}
	floats := func(what, text string, n int) []float64 {
		v, err := decodeFloats(text)
		if err == nil && len(v) != n {
			err = fmt.Errorf("%d numbers, want %d", len(v), n)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("its %s: %w", what, err))
			return nil
		}
		return v
	}
	term := each(j.Term)
	if len(term) == 0 {
		return b, errors.Join(faults...)
	}
	b = Block{Term: term[0], Select: j.Select, Base: each(j.Base...)}
	dim := b.Term.Dim()
	var normal []float64
	if j.Normal != "" {
		normal = floats("constraint", j.Normal, dim)
	}
	if b.Constraint, err = j.constraint(normal); err != nil {
		return b, err
	}
	norm := each(j.Norm...)
	switch m := j.Map; {
	case m != nil && j.Standardised:
		return b, errors.New("it has a map and standardised coordinates, which are others")
	case m != nil:
		if m.Rows != dim || m.Cols < 1 || m.Cols > dim {
			return b, fmt.Errorf("its map is %d x %d, the basis has %d columns", m.Rows, m.Cols, dim)
		}
		if v := floats("map", m.Values, dim*m.Cols); v != nil {
			b.Coordinates = Mapped(mat.NewDense(m.Rows, m.Cols, v), norm...)
		}
		dim = m.Cols
	case j.Standardised:
		b.Coordinates = Standardised()
	default:
		b.Coordinates = Raw(norm...)
	}
	for i, p := range j.Penalties {
		if p.Dim != dim {
			return b, fmt.Errorf("its penalty %d is for %d columns, want %d", i+1, p.Dim, dim)
		}
		if v := floats(fmt.Sprintf("penalty %d", i+1), p.S, dim*(dim+1)/2); v != nil {
			b.Penalty.S = append(b.Penalty.S, fromUpper(dim, v))
		}
	}
	b.Penalty.SP, b.Penalty.Link = fixedAndLinks(j.Penalties)
	if err := errors.Join(faults...); err != nil {
		return b, err
	}
	return b, semidefinite(b.Penalty)
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
func fixedAndLinks(penalties []sumandJSON) (sp []float64, links []string) {
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
