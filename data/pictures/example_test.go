package pictures_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/pictures"
)

// A grey picture of 1 x 2, which a column of the table names.
func ExampleJoin() {
	dir, err := os.MkdirTemp("", "photos")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "a.png"))
	if err != nil {
		log.Fatal(err)
	}
	m := image.NewGray(image.Rect(0, 0, 2, 1))
	m.SetGray(1, 0, color.Gray{Y: 51})
	if err := png.Encode(f, m); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	table := data.NewTable(1)
	if err := table.AddTexts("file", []string{"a.png"}); err != nil {
		log.Fatal(err)
	}
	rows, err := pictures.Join("img", table, filepath.Join(dir, "{file}"), pictures.Options{Height: 1, Width: 2, Channels: 1})
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range rows.Batches(context.Background(), []string{"img"}) {
		if err != nil {
			log.Fatal(err)
		}
		img, err := b.Tensor("img")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(img.RawRowView(0))
	}
	// Output:
	// [0 0.2]
}
