// Package tocsv reads a file of rows and writes it as CSV.
package tocsv

import (
	"context"
	"errors"
	"os"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// Write writes all columns of the file from to the file to.
func Write(to, from string, workers int) error {
	src, err := files.Open([]string{from}, &files.Options{Workers: workers})
	if err != nil {
		return err
	}
	defer src.Close()
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	names := src.Schema().Names()
	err = data.WriteCSV(f, src.Batches(context.Background(), names), names, workers)
	return errors.Join(err, f.Close())
}
