package arrow_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pho-go/pho/data/arrow"
)

// A column of a Feather file is read: text is categories, their levels numbered in the
// order of the rows.
func Example() {
	rows, err := arrow.Open([]string{"../files/testdata/golden/rows.feather"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for b, err := range rows.Batches(context.Background(), []string{"cat"}) {
		if err != nil {
			log.Fatal(err)
		}
		cat, err := b.Codes("cat")
		if err != nil {
			log.Fatal(err)
		}
		for _, code := range cat.Index {
			counts[cat.Levels[code]]++
		}
	}
	for level, n := range counts {
		fmt.Printf("%q %d\n", level, n)
	}
	total, _ := rows.Rows()
	fmt.Println(total, "rows")
	// Unordered output:
	// "a longer name, with a comma" 52
	// "UA" 77
	// "Ünïted" 59
	// "AA" 58
	// "x" 54
	// 300 rows
}
