package npy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/npy"
)

// A tensor of 7 x 2 x 3 joined with a table of as many rows.
func ExampleOpenTensor() {
	images, err := npy.OpenTensor("image", []string{"testdata/golden/cube.npy"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	table, err := npy.Open([]string{"testdata/golden/line.npy"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := data.Zip(data.Part{Name: "line.npy", Source: table}, data.Part{Name: "cube.npy", Source: images})
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range rows.Batches(context.Background(), []string{"x0", "image"}) {
		if err != nil {
			log.Fatal(err)
		}
		x, err := b.Numeric("x0")
		if err != nil {
			log.Fatal(err)
		}
		image, err := b.Tensor("image")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x[6], image.RawRowView(6))
	}
	// Output:
	// 6 [36 37 38 39 40 41]
}
