package formula_test

import (
	"fmt"

	"github.com/pho-go/pho/basis/formula"
)

func ExampleParse() {
	f, err := formula.Parse("y ~ x1 + s(x2, k=20, bs='ps') - 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Response, f.Intercept, len(f.Summands))
	smooth := f.Summands[1].Calls[0]
	k, _ := smooth.Arg("k")
	fmt.Println(smooth.Func, smooth.Vars[0].Text, k.Value)
	fmt.Println(f)

	_, err = formula.Parse("y ~ x1 + s(x2, kk=20)")
	fmt.Println(err)
	// Output:
	// y false 2
	// s x2 20
	// y ~ x1 + s(x2, k = 20, bs = "ps") - 1
	// formula, character 16: unknown argument "kk" of s(); did you mean k?
	//   y ~ x1 + s(x2, kk=20)
	//                  ^
}

// The tree says where in the text a name stands, so whoever gives it a meaning can show
// the place of a fault.
func ExampleFormula_Errorf() {
	f, err := formula.Parse("log_wage ~ age + s(tenure, by = sector)")
	if err != nil {
		fmt.Println(err)
		return
	}
	known := map[string]bool{"log_wage": true, "age": true, "tenure": true}
	for _, s := range f.Summands {
		for _, call := range s.Calls {
			if by, ok := call.Arg("by"); ok && !known[by.Value.Text] {
				fmt.Println(f.Errorf(by.Value.Pos, "there is no column %q", by.Value.Text))
			}
		}
	}
	// Output:
	// formula, character 33: there is no column "sector"
	//   log_wage ~ age + s(tenure, by = sector)
	//                                   ^
}

func ExampleFormula_Equal() {
	a, _ := formula.Parse(`y~s(x,k=20)+0`)
	b, _ := formula.Parse(`y ~ s(x, k = 2e1) - 1`)
	fmt.Println(a.Equal(b))
	fmt.Println(a)
	// Output:
	// true
	// y ~ s(x, k = 20) - 1
}
