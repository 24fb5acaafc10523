package files_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// The same rows in three formats; nobody has to say which.
func ExampleOpen() {
	for _, name := range []string{"nulls.csv", "nulls_zstd.parquet", "nulls.feather"} {
		rows, err := files.Open([]string{"testdata/golden/" + name}, &files.Options{NA: data.NADrop})
		if err != nil {
			log.Fatal(err)
		}
		sum := 0.0
		for b, err := range rows.Batches(context.Background(), []string{"u8"}) {
			if err != nil {
				log.Fatal(err)
			}
			v, err := b.Numeric("u8")
			if err != nil {
				log.Fatal(err)
			}
			for _, x := range v {
				sum += x
			}
		}
		total, dropped := rows.Rows()
		fmt.Printf("%s: sum %.0f, %d of %d rows left out\n", name, sum, dropped, total)
		if err := rows.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// nulls.csv: sum 33529, 32 of 300 rows left out
	// nulls_zstd.parquet: sum 33529, 32 of 300 rows left out
	// nulls.feather: sum 33529, 32 of 300 rows left out
}

// What a program may do something about, it finds in the error by its type.
func ExampleOpen_missing() {
	rows, err := files.Open([]string{"testdata/golden/nulls.feather"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for _, err := range rows.Batches(context.Background(), []string{"u8"}) {
		var cell *data.CellError
		if errors.Is(err, data.ErrMissingValue) && errors.As(err, &cell) {
			fmt.Printf("column %q has no value in row %d: open the file with data.NADrop\n", cell.Column, cell.Row)
		}
	}
	// Output:
	// column "u8" has no value in row 7: open the file with data.NADrop
}
