package basis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Multivariate is a basis of several variables before its data scan: TP or RBF.
type Multivariate interface {
	label() string      // as in bs=
	settle(d int) error // refuses settings that do not suit d columns
	limit() int         // of distinct points to keep; of more a subsample
	surface(columns []string, p *points) (surface, *mat.SymDense, error)
}

// surface is a basis of d variables: immutable.
type surface interface {
	json.Marshaler
	dim() int
	// evaluate writes the basis at finite points x (n x d, row by row) to dst, whose
	// rows are stride apart. A row depends on its point alone.
	evaluate(dst []float64, stride int, x []float64)
}

// Surface is the spec of a smooth of one or more numeric columns together, such
// as s(lon,lat) in a formula. The scan collects the distinct points; a subsample
// chosen by hash if there are many, which a note tells. Constraints, and what a By
// column does, are those of Smooth.
func Surface(columns []string, b Multivariate, o *SmoothOptions) decompose.Spec {
	s := &surfaceSpec{columns: slices.Clone(columns), basis: b, name: "s(" + strings.Join(columns, ",") + ")"}
	if o != nil {
		s.o = *o
	}
	if s.o.By != "" {
		s.name += ":" + s.o.By
	}
	return s
}

type surfaceSpec struct {
	columns []string
	name    string
	basis   Multivariate
	o       SmoothOptions
}

// check refuses settings that no data can save.
func (s *surfaceSpec) check() error {
	if s.basis == nil {
		return fmt.Errorf("no basis is given; there are %s", haveSurfaces())
	}
	if err := checkColumns(s.columns); err != nil {
		return err
	}
	if err := s.o.checkFor(len(s.columns), 1); err != nil {
		return err
	}
	return s.basis.settle(len(s.columns))
}

func checkColumns(columns []string) error {
	if len(columns) == 0 {
		return fmt.Errorf("it has no columns")
	}
	for i, c := range columns {
		if err := checkColumn(c); err != nil {
			return err
		}
		if slices.Contains(columns[:i], c) {
			return fmt.Errorf("column %q is there twice", c)
		}
	}
	return nil
}

func (s *surfaceSpec) Columns() []string {
	out := slices.Clone(s.columns)
	if s.o.By != "" && !slices.Contains(out, s.o.By) {
		out = append(out, s.o.By)
	}
	return out
}

func (s *surfaceSpec) Scanner() decompose.Scanner {
	scan := &surfaceScan{surfaceSpec: s, by: s.o.byScan()}
	if s.basis != nil {
		scan.points = newPoints(len(s.columns), s.basis.limit())
	}
	return scan
}

// surfaceScan is what one set of rows shows of a surface's columns.
type surfaceScan struct {
	*surfaceSpec
	points *points
	by     byScan
}

func (s *surfaceScan) NeedsScan() bool { return true }

func (s *surfaceScan) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	x, err := numeric(s.name, s.columns, b)
	if err != nil {
		return err
	}
	d := len(s.columns)
	for i := range b.Rows() {
		s.points.add(x[i*d : (i+1)*d]...)
	}
	return s.by.scan(s.name, b)
}

// numeric gathers finite columns, row by row.
func numeric(term string, columns []string, b *data.Batch) ([]float64, error) {
	d := len(columns)
	out := make([]float64, b.Rows()*d)
	for j, name := range columns {
		x, err := b.Numeric(name)
		if err != nil {
			return nil, fmt.Errorf("term %s: %w", term, err)
		}
		for i, v := range x {
			if !finite(v) {
				return nil, notFinite(term, name, v, b.Row(i))
			}
			out[i*d+j] = v
		}
	}
	return out, nil
}

func (s *surfaceScan) Build() ([]decompose.Block, error) {
	blocks, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return blocks, nil
}

func (s *surfaceScan) build() ([]decompose.Block, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	basis, matrix, err := s.basis.surface(s.columns, s.points)
	if err != nil {
		return nil, err
	}
	term := func(y by) decompose.Term { return newSurface(s.columns, s.basis.label(), basis, y) }
	block, err := s.o.block([]*mat.SymDense{matrix}, s.columns, term(by{}))
	if err != nil {
		return nil, err
	}
	return s.by.each(block, s.o.ByOrdered, term)
}

// Notes tells when only a subsample of the points was used.
func (s *surfaceScan) Notes() []string {
	if s.points.prune(); !s.points.sampled || ownKnots(s.basis) {
		return nil
	}
	return []string{fmt.Sprintf("term %s: %s have more than %d distinct points; the basis is made from %d of them, chosen by hash",
		s.name, quoted(s.columns), s.points.limit, s.points.n())}
}

// ownKnots: the knots are given, and the sample of the data only sets scales.
func ownKnots(b any) bool {
	switch b := b.(type) {
	case TP:
		return len(b.Knots) > 0
	case RBF:
		return len(b.Knots) > 0
	}
	return false
}

// SurfaceTerm is a smooth of several numeric columns together, as it is, times a
// numeric column, or on the rows of one level of a factor (0 on the others).
type SurfaceTerm struct {
	name    string
	columns []string
	bs      string
	basis   surface
	by      by
}

func newSurface(columns []string, bs string, basis surface, y by) *SurfaceTerm {
	return &SurfaceTerm{"s(" + strings.Join(columns, ",") + ")" + y.suffix(), columns, bs, basis, y}
}

// Name is mgcv's label: s(lon,lat), s(lon,lat):z or s(lon,lat):dow3.
func (t *SurfaceTerm) Name() string { return t.name }

// Kind is decompose.Smooth.
func (t *SurfaceTerm) Kind() decompose.Kind { return decompose.Smooth }

// Columns are the smooth's columns and the by column, if any.
func (t *SurfaceTerm) Columns() []string {
	out := slices.Clone(t.columns)
	if t.by.column != "" && !slices.Contains(out, t.by.column) {
		out = append(out, t.by.column)
	}
	return out
}

// Dim is k.
func (t *SurfaceTerm) Dim() int { return t.basis.dim() }

// By names the by column, and the level if it is a factor.
func (t *SurfaceTerm) By() (column, level string) {
	if t.by.levels != nil {
		level = t.by.levels.names[t.by.level]
	}
	return t.by.column, level
}

// Eval overwrites dst (n x k) with the basis at the rows of b. Points that occur
// several times in b are evaluated once, rows that by multiplies with 0 not at all.
// A value that is not finite, or a by level the term was not made with, is an error.
func (t *SurfaceTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	x, err := numeric(t.name, t.columns, b)
	if err != nil {
		return err
	}
	factors, err := t.by.factors(t.name, b)
	if err != nil {
		return err
	}
	d, k := len(t.columns), t.basis.dim()
	distinct := newPoints(d, b.Rows())
	which := make([]int, b.Rows()) // each row's point
	for i := range which {
		if factors != nil && factors[i] == 0 {
			continue
		}
		which[i] = distinct.number(x[i*d : (i+1)*d])
	}
	values := make([]float64, distinct.n()*k)
	t.basis.evaluate(values, k, distinct.x)
	for i, at := range which {
		row := dst.RawRowView(i)
		switch {
		case factors == nil:
			copy(row, values[at*k:(at+1)*k])
		case factors[i] == 0:
			clear(row)
		default:
			for j, v := range values[at*k : (at+1)*k] {
				row[j] = v * factors[i]
			}
		}
	}
	return nil
}

type surfaceJSON struct {
	BS      string          `json:"bs"`
	Columns []string        `json:"columns"`
	Basis   json.RawMessage `json:"basis"`
	By      *byJSON         `json:"by,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *SurfaceTerm) MarshalJSON() ([]byte, error) {
	raw, err := t.basis.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return json.Marshal(surfaceJSON{t.bs, t.columns, raw, t.by.json()})
}

func decodeSurface(spec []byte) (decompose.Term, error) {
	var j surfaceJSON
	if err := strict(spec, &j); err != nil {
		return nil, err
	}
	if err := checkColumns(j.Columns); err != nil {
		return nil, err
	}
	d, ok := definitionOf(j.BS)
	if !ok || d.decode == nil {
		return nil, fmt.Errorf("basis %q of several columns is not known to this version", j.BS)
	}
	basis, err := d.decode(j.Basis, len(j.Columns))
	if err != nil {
		return nil, err
	}
	y, err := decodeBy(j.By)
	if err != nil {
		return nil, err
	}
	return newSurface(j.Columns, j.BS, basis, y), nil
}

func (s *surfaceSpec) label() string { return s.name }
