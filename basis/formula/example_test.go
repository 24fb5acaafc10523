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
