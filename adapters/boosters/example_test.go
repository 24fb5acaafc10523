package boosters_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/pho-go/pho/adapters/boosters"
	"github.com/pho-go/pho/adapters/onnx"
)

// A model that LightGBM has saved is a network to pho: its predictor is a sum over trees, which is
// taken apart by the columns that they split.
func ExampleLoad() {
	const file = `tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=poisson
feature_names=age income
feature_infos=[18:80] [0:9]
tree_sizes=1 1

Tree=0
num_leaves=2
split_feature=0
threshold=40.5
decision_type=2
left_child=-1
right_child=-2
leaf_value=-0.5 0.25

Tree=1
num_leaves=2
split_feature=1
threshold=3
decision_type=2
left_child=-1
right_child=-2
leaf_value=0 1

end of trees
`
	g, err := boosters.Load(strings.NewReader(file), nil)
	if err != nil {
		panic(err)
	}
	s, err := onnx.Discover(g, onnx.Unbound(g), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(boosters.Library([]byte(file)), "with head", s.Predictors[0].Head)
	for _, t := range s.Predictors[0].Terms {
		fmt.Println(t.Name, t.Reason)
	}
	if s.Predictors[0].Deep != nil {
		fmt.Fprintln(os.Stderr, "a deep part")
	}
	// Output:
	// LightGBM with head exp
	// f(age) the sum over the tree that depends on "age" alone: 1 tree
	// f(income) the sum over the tree that depends on "income" alone: 1 tree
}
