package propose_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/data"
)

// The terms that "." stands for in a formula are chosen by the data in the columns.
func ExampleTerms() {
	const n = 200
	rows := data.NewTable(n)
	temp, shop := make([]float64, n), make([]string, n)
	for i := range n {
		temp[i] = float64(i*37%100) / 10
		shop[i] = []string{"north", "south", "west"}[i%3]
	}
	if err := rows.AddNumeric("temp", temp); err != nil {
		log.Fatal(err)
	}
	if err := rows.AddTexts("shop", shop); err != nil {
		log.Fatal(err)
	}
	p, err := propose.Terms(context.Background(), rows, []string{"temp", "shop"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	f, err := formula.Parse("sales ~ .")
	if err != nil {
		log.Fatal(err)
	}
	if f, err = f.Expand(p.Terms); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f)
	// Output: sales ~ s(temp, bs = "bs", k = 15, knots = "quantiles") + shop
}
