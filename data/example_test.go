package data_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/pho-go/pho/data"
)

func ExampleOpenCSV() {
	text := "hour,dow,temp\n8,1,20.5\n9,1,NA\n9,2.0,18\n"
	source, err := data.OpenCSV([]string{"-"}, &data.CSVOptions{
		Factors: []string{"dow"},
		NA:      data.NADrop,
		Stdin:   strings.NewReader(text),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	for b, err := range source.Batches(context.Background(), []string{"dow", "temp"}) {
		if err != nil {
			log.Fatal(err)
		}
		temp, err := b.Numeric("temp")
		if err != nil {
			log.Fatal(err)
		}
		dow, err := b.Codes("dow")
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.Rows() {
			fmt.Println("row", b.Row(i), "temp", temp[i], "dow", dow.Levels[dow.Index[i]])
		}
	}
	total, dropped := source.Rows()
	fmt.Println(dropped, "of", total, "rows left out")
	// Output:
	// row 0 temp 20.5 dow 1
	// row 2 temp 18 dow 2
	// 1 of 3 rows left out
}

func ExampleRebatch() {
	table := data.NewTable(7)
	table.BatchRows = 3
	if err := table.AddNumeric("x", []float64{0, 1, 2, 3, 4, 5, 6}); err != nil {
		log.Fatal(err)
	}
	batches := table.Batches(context.Background(), []string{"x"})
	for b, err := range data.Rebatch(batches, 4) {
		if err != nil {
			log.Fatal(err)
		}
		x, err := b.Numeric("x")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x)
	}
	// Output:
	// [0 1 2 3]
	// [4 5 6]
}
