package basis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// Variable is a column of a product: a factor or a number.
type Variable struct {
	Column string
	Factor bool
	// Contrast leaves out the rows of a factor's first level (treatment contrasts),
	// as R does where the product without this factor is a term of the model too.
	Contrast bool
}

const (
	maxFactors      = 10
	maxRandom       = 5_000     // columns with a dense penalty
	maxRandomLevels = 1_000_000 // of which a row has one: they take room for few numbers each
)

// Interaction is the spec of a product of columns, such as origin:dest, dow:x or
// x:z: a coefficient for each combination of levels that occurs (times the
// numbers), unpenalised and not centred; what other terms span too is left to the
// projection, which names it. Label is the term's name; empty: the columns joined
// by colons.
func Interaction(label string, variables ...Variable) decompose.Spec {
	return newCellSpec(label, ":", variables)
}

// RandomEffect is the spec of s(g, bs="re"), s(g, x, bs="re") or s(g, h, bs="re"):
// a coefficient for each combination of levels that occurs, times the numbers,
// under a ridge penalty and without a constraint (Wood 2017, 5.8). Of o, SP, Link,
// Unpenalized and a numeric By (one more number) count.
func RandomEffect(o *SmoothOptions, variables ...Variable) decompose.Spec {
	var columns []string
	for _, p := range variables {
		columns = append(columns, p.Column)
	}
	s := newCellSpec("s("+strings.Join(columns, ",")+")", ",", variables)
	s.random = &SmoothOptions{}
	if o != nil {
		*s.random = *o
	}
	if s.random.By != "" {
		s.name += ":" + s.random.By
		s.variables = append(slices.Clip(s.variables), Variable{Column: s.random.By})
	}
	return s
}

func newCellSpec(label, join string, variables []Variable) *cellSpec {
	s := &cellSpec{name: label, variables: slices.Clone(variables)}
	var columns []string
	for _, p := range variables {
		columns = append(columns, p.Column)
	}
	if label == "" {
		s.name = strings.Join(columns, join)
	}
	return s
}

type cellSpec struct {
	name      string
	variables []Variable
	random    *SmoothOptions // nil: an interaction
	centred   bool           // numbers far from 0 are about a point
	selected  bool           // an interaction under a ridge penalty, without contrasts
}

func (s *cellSpec) Scanner() decompose.Scanner {
	scan := &cellScan{cellSpec: s, most: s.limit(), cells: map[string][]int32{}}
	for _, p := range s.variables {
		if p.Factor {
			scan.seen = append(scan.seen, cellLevels{
				levelScan: levelScan{column: p.Column, limit: maxLevels, advice: "is it a number rather than a category?"},
				number:    map[string]int32{},
			})
		}
	}
	if s.centred {
		scan.ranges = newRanges(s.variables)
	}
	return scan
}

func (s *cellSpec) label() string { return s.name }

func (s *cellSpec) check() error {
	if len(s.variables) == 0 {
		return errors.New("it has no columns")
	}
	if len(s.variables) > maxFactors {
		return fmt.Errorf("a product of %d columns: at most %d are possible", len(s.variables), maxFactors)
	}
	for i, p := range s.variables {
		if err := checkColumn(p.Column); err != nil {
			return err
		}
		for _, q := range s.variables[:i] {
			if p.Column == q.Column && (p.Factor || q.Factor) {
				return fmt.Errorf("column %q is there twice", p.Column)
			}
		}
	}
	if o := s.random; o != nil {
		if err := o.checkFor(0, 1); err != nil {
			return err
		}
		if o.ByFactor || o.ByOrdered {
			return fmt.Errorf("by = %s is a factor: write s(..., %s, bs = \"re\") for an effect of each combination of levels", o.By, o.By)
		}
	}
	return nil
}

func (s *cellSpec) Columns() []string {
	var out, numbers []string
	for _, p := range s.variables {
		if p.Factor {
			out = append(out, p.Column)
		} else {
			numbers = append(numbers, p.Column)
		}
	}
	for _, n := range numbers {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// limit is the most columns: a ridge is a dense matrix.
func (s *cellSpec) limit() int {
	if s.random != nil || s.selected {
		return maxRandomLevels
	}
	return maxLevels
}
