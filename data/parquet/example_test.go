package parquet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
)

// Columns of numbers, one row of which is null, are written to a file; the file is read
// as rows, those with missing cells left out.
func Example() {
	dir, err := os.MkdirTemp("", "parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rows.parquet")
	if err := write(path); err != nil {
		log.Fatal(err)
	}
	rows, err := parquet.Open([]string{path}, &parquet.Options{NA: data.NADrop})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for b, err := range rows.Batches(context.Background(), []string{"temp"}) {
		if err != nil {
			log.Fatal(err)
		}
		temp, err := b.Numeric("temp")
		if err != nil {
			log.Fatal(err)
		}
		for i, v := range temp {
			fmt.Println("row", b.Row(i), "temp", v)
		}
	}
	total, dropped := rows.Rows()
	fmt.Println(dropped, "of", total, "rows left out")
	// Output:
	// row 0 temp 20.5
	// row 2 temp 18
	// 1 of 3 rows left out
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, []string{"hour", "temp"})
	if err != nil {
		return err
	}
	if err := w.Write([][]float64{{8}, {20.5}}); err != nil {
		return err
	}
	if err := w.WriteNull(1); err != nil {
		return err
	}
	if err := w.Write([][]float64{{10}, {18}}); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
