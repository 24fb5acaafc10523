package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
	"github.com/pho-go/pho/penalty"
)

// LinearRidge is the spec of numeric columns with a slope each, penalised together:
// ridge(a,b,c). The penalty is lambda sum_j (sd_j a_j)^2, sd_j the weighted standard
// deviation of column j: one lambda, whatever the columns' units (ridge regression; mgcv's
// paraPen of an identity on standardised columns). Coefficients are those of the columns as
// they are. There may be more columns than rows. Of o, SP and Link count.
func LinearRidge(columns []string, o *SmoothOptions) decompose.Spec {
	s := &ridgeSpec{name: namedColumns("ridge", columns), columns: slices.Clone(columns)}
	if o != nil {
		s.o = *o
	}
	return s
}

// namedColumns is f(a,b,c); of more than four columns f(a..z).
func namedColumns(f string, columns []string) string {
	if len(columns) > 4 {
		return f + "(" + columns[0] + ".." + columns[len(columns)-1] + ")"
	}
	return f + "(" + strings.Join(columns, ",") + ")"
}

type ridgeSpec struct {
	name    string
	columns []string
	o       SmoothOptions
}

func (s *ridgeSpec) label() string { return s.name }

func (s *ridgeSpec) check() error {
	if _, err := newRidge(s.name, s.columns); err != nil {
		return err
	}
	return (&SmoothOptions{SP: s.o.SP}).checkFor(0, 1)
}

func (s *ridgeSpec) Columns() []string          { return s.columns }
func (s *ridgeSpec) Scanner() decompose.Scanner { return s } // it has nothing to find out
func (s *ridgeSpec) NeedsScan() bool            { return false }
func (s *ridgeSpec) Scan(*data.Batch) error     { return nil }
func (s *ridgeSpec) Build() ([]decompose.Block, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	t, err := newRidge(s.name, s.columns)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	b := decompose.Block{Term: t, Coordinates: decompose.Standardised(), Penalty: ridge(t.Dim(), s.o.SP...)}
	if s.o.Link != "" {
		b.Penalty.Link = []string{s.o.Link + ".1"}
	}
	return []decompose.Block{b}, nil
}

// manyLevels is from how many coefficients on a penalty that is diagonal is given by that.
const manyLevels = 500

// ridge is the penalty a'a of k coefficients; sp as SmoothOptions.SP.
func ridge(k int, sp ...float64) penalty.Penalty {
	if k >= manyLevels {
		return penalty.Penalty{S: []mat.Symmetric{mat.NewDiagDense(k, slices.Repeat([]float64{1}, k))}, SP: sp}
	}
	return penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(k)}, SP: sp}
}

// RidgeTerm is some numeric columns side by side.
type RidgeTerm struct {
	name    string
	columns []string
}

func newRidge(name string, columns []string) (*RidgeTerm, error) {
	switch {
	case name == "":
		return nil, errors.New("it has no name")
	case len(columns) == 0:
		return nil, errors.New("it has no columns")
	case len(columns) > maxRandom:
		return nil, fmt.Errorf("%d columns: at most %d can be penalised together", len(columns), maxRandom)
	}
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		if err := checkColumn(c); err != nil {
			return nil, err
		}
		if seen[c] {
			return nil, fmt.Errorf("column %q is there twice", c)
		}
		seen[c] = true
	}
	return &RidgeTerm{name, slices.Clone(columns)}, nil
}

// Name is ridge(a,b,c), or ridge(a..z) of more than four columns.
func (t *RidgeTerm) Name() string { return t.name }

// Kind is decompose.Linear.
func (t *RidgeTerm) Kind() decompose.Kind { return decompose.Linear }

// Columns are those with a slope.
func (t *RidgeTerm) Columns() []string { return slices.Clone(t.columns) }

// Dim is the number of columns d.
func (t *RidgeTerm) Dim() int { return len(t.columns) }

// Slopes are the columns, each of which has one coefficient.
func (t *RidgeTerm) Slopes() []string { return t.Columns() }

// Eval copies the columns into dst (n x d).
func (t *RidgeTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	for j, c := range t.columns {
		x, err := b.Numeric(c)
		if err != nil {
			return fmt.Errorf("term %s: %w", t.name, err)
		}
		dst.SetCol(j, x)
	}
	return nil
}

type ridgeJSON struct {
	Ridge []string `json:"ridge"`
	Name  string   `json:"name"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *RidgeTerm) MarshalJSON() ([]byte, error) { return json.Marshal(ridgeJSON{t.columns, t.name}) }

// isRidge tells whether a spec is of a RidgeTerm.
func isRidge(spec []byte) bool {
	var j struct{ Ridge json.RawMessage }
	return json.Unmarshal(spec, &j) == nil && j.Ridge != nil
}

func decodeRidge(spec []byte) (decompose.Term, error) {
	var j ridgeJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	t, err := newRidge(j.Name, j.Ridge)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ridge is ridge(a, b, c).
func (m *interpreter) ridge(c formula.Call) (decompose.Spec, string, error) {
	var columns []string
	for _, n := range c.Vars {
		col, err := m.number(n)
		if err != nil {
			return nil, "", err
		}
		columns = append(columns, col.Name)
	}
	var o SmoothOptions
	for _, a := range c.Args {
		var err error
		switch a.Name {
		case "sp":
			o.SP, err = m.numbers(a)
		case "id":
			o.Link, err = m.link(a)
		default:
			err = m.Errorf(a.Pos, "%s has no meaning for ridge(), which has sp and id", a.Name)
		}
		if err != nil {
			return nil, "", err
		}
	}
	spec := LinearRidge(columns, &o).(*ridgeSpec)
	if m.ridges[spec.name] { // of other columns between the same ends
		spec.name = "ridge(" + strings.Join(columns, ",") + ")"
	}
	if m.ridges == nil {
		m.ridges = map[string]bool{}
	}
	m.ridges[spec.name] = true
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.name, err)
	}
	return spec, "ridge " + setKey(columns), nil
}
