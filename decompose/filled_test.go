package decompose

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
)

// TestFilled: terms with few zeros in their rows are told from terms with many, though both evaluate
// sparsely, so that linear terms side by side become one product.
func TestFilled(t *testing.T) {
	for name, c := range map[string]struct {
		term Term
		want bool
	}{
		"linear":         {&LinearTerm{Column: "x"}, true},
		"tap":            {&Tap{Tensor: "h", Features: []string{"x"}, Width: 3}, true},
		"three columns":  {threeColumns{}, true},
		"few of columns": {fewOfThree{}, false},
	} {
		if got := filled(c.term); got != c.want {
			t.Errorf("%s: filled is %v, want %v", name, got, c.want)
		}
	}
}

// threeColumns is a term of three columns without zeros, fewOfThree one that leaves them out.
type (
	threeColumns struct{ Term }
	fewOfThree   struct{ threeColumns }
)

func (threeColumns) Dim() int   { return 3 }
func (threeColumns) Kind() Kind { return Smooth }

func (fewOfThree) EvalSparse(*data.Batch) (design.Columns, error) { return nil, nil }
