package basis

import (
	"fmt"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Linear is the spec of a numeric column as it is: one unpenalised coefficient.
// It needs no scan.
func Linear(column string) decompose.Spec { return linearSpec{column: column} }

type linearSpec struct {
	column   string
	selected bool // a ridge penalty of its own, in units of the column's sd
}

func (s linearSpec) Columns() []string          { return []string{s.column} }
func (s linearSpec) Scanner() decompose.Scanner { return s } // it has nothing to find out
func (s linearSpec) NeedsScan() bool            { return false }
func (s linearSpec) Scan(*data.Batch) error     { return nil }
func (s linearSpec) Build() ([]decompose.Block, error) {
	if err := checkColumn(s.column); err != nil {
		return nil, fmt.Errorf("term %s: %w", s.column, err)
	}
	b := decompose.Block{Term: &decompose.LinearTerm{Column: s.column}}
	if s.selected {
		b.Coordinates, b.Penalty = decompose.Standardised(), ridge(1)
	}
	return []decompose.Block{b}, nil
}
