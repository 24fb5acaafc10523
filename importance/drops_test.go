package importance

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestOneHotColumns: the columns of one factor are left out together, and once; a column
// that has a term of its own is a feature.
func TestOneHotColumns(t *testing.T) {
	factor := decompose.TermResult{Name: "onehot(a,b,c)", Kind: decompose.Factor, Features: []string{"a", "b", "c"}}
	smooth := decompose.TermResult{Name: "s(x)", Kind: decompose.Smooth, Features: []string{"x"}}
	linear := decompose.TermResult{Name: "a", Kind: decompose.Linear, Features: []string{"a"}}
	surface := decompose.TermResult{Name: "te(u,v)", Kind: decompose.Tensor, Features: []string{"u", "v"}}
	for _, c := range []struct {
		predictors [][]decompose.TermResult
		want       string
	}{
		{[][]decompose.TermResult{{factor, smooth}}, "onehot(a,b,c)[[0]] x[[1]]"},
		{[][]decompose.TermResult{{factor}, {smooth, factor}}, "onehot(a,b,c)[[0] [1]] x[[] [0]] [[0] []] [[] [1]]"},
		{[][]decompose.TermResult{{factor, linear}}, "a[[0 1]] b[[0]] c[[0]] [[1]]"},
		{[][]decompose.TermResult{{factor}, {linear}}, "a[[0] [0]] b[[0] []] c[[0] []] [[] [0]]"},
		{[][]decompose.TermResult{{surface}}, "u[[0]] v[[0]]"},
	} {
		var r decompose.Result
		for _, terms := range c.predictors {
			r.Predictors = append(r.Predictors, decompose.Predictor{Terms: terms})
		}
		got := ""
		for _, d := range drops(&r) {
			got += fmt.Sprintf(" %s%v", d.feature, d.terms)
		}
		if got != " "+c.want {
			t.Errorf("left out: %s, want %s", got, c.want)
		}
	}
}
