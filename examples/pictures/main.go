// Command pictures decomposes two networks that read arrays beside a table, one a picture, one the token ids of a
// text, and sets the effects of the table's columns next to those that the rows were simulated with.
//
//	go run ./examples/pictures [FOLDER]
//
// train.py makes the folder; without an argument it is testdata/docs/pictures.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/npy"
	"github.com/pho-go/pho/decompose"
)

func main() {
	folder := filepath.Join("testdata", "docs", "pictures")
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := run(context.Background(), os.Stdout, folder); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, folder string) error {
	for _, network := range networks {
		d, _, err := network.decompose(ctx, folder)
		if err != nil {
			return err
		}
		effects, err := d.Result.Coefficients(0)
		if err != nil {
			return err
		}
		after := d.Result.Predictors[0].Variance
		fmt.Fprintf(w, "%s: %.0f %% of the variance is beyond the table\n", network.file, 100*after.Unstructured/after.Total)
		if err := show(w, effects); err != nil {
			return err
		}
	}
	return nil
}

// networks are the files of train.py. Rows hold an array for each input that is no column of the table.
var networks = []network{{"scan.onnx", []string{"scan"}}, {"note.onnx", []string{"ids", "mask"}}}

type network struct {
	file   string
	arrays []string
}

// decompose takes the structure that the network has by itself: its part of the table.
func (n network) decompose(ctx context.Context, folder string) (*pho.Decomposition, data.Source, error) {
	rows, err := open(folder, n.arrays)
	if err != nil {
		return nil, nil, err
	}
	d, err := pho.Decompose(ctx, filepath.Join(folder, n.file), rows, &pho.Options{Response: "days"})
	return d, rows, err
}

// open joins the patients' table with arrays, which are called like the network's inputs.
func open(folder string, arrays []string) (data.Source, error) {
	name := filepath.Join(folder, "patients.csv")
	table, err := files.Open([]string{name}, nil)
	if err != nil {
		return nil, err
	}
	parts := []data.Part{{Name: name, Source: table}}
	for _, a := range arrays {
		name := filepath.Join(folder, a+".npy")
		array, err := npy.OpenTensor(a, []string{name}, nil)
		if err != nil {
			return nil, err
		}
		parts = append(parts, data.Part{Name: name, Source: array})
	}
	return data.Zip(parts...)
}

// show prints the effects after and before the decomposition, and the truth. Levels are differences to the first one.
func show(w io.Writer, effects []decompose.Coefficient) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttruth\tnetwork's own\tPHO\tse\t")
	for _, e := range effects {
		if effect, known := truth[e.Term+e.Level]; known {
			fmt.Fprintf(t, "%s %s\t%.3f\t%.3f\t%.3f\t%.3f\t\n", e.Term, e.Level, effect, e.Before, e.Estimate, e.SE)
		}
	}
	return t.Flush()
}

// truth is TRUTH of train.py: days per year of age and per kilogram, and next to the region east.
var truth = map[string]float64{"age": 0.10, "weight": -0.05, "regionnorth": 1.5, "regionsouth": 3}
