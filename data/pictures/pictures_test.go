package pictures_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/pictures"
)

// draw saves a picture of height 1 and width 2.
func draw(t *testing.T, path string, m image.Image) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tiny is what a kind of picture shows: a at the left, b at the right.
func tiny[M interface {
	image.Image
	Set(x, y int, c color.Color)
}](m M, a, b color.Color) image.Image {
	m.Set(0, 0, a)
	m.Set(1, 0, b)
	return m
}

// Samples are those of the file, of any kind of PNG, on the scale asked for.
func TestSamplesAreExact(t *testing.T) {
	dir, r := t.TempDir(), image.Rect(0, 0, 2, 1)
	half := color.NRGBA{200, 100, 50, 128}
	for _, c := range []struct {
		name string
		m    image.Image
		o    pictures.Options
		want []float64 // of the largest sample, channels first
	}{
		{"grey", tiny(image.NewGray(r), color.Gray{7}, color.Gray{255}), pictures.Options{Channels: 1, White: 255}, []float64{7, 255}},
		{"grey as colours", tiny(image.NewGray(r), color.Gray{7}, color.Gray{255}), pictures.Options{Channels: 3, White: 255}, []float64{7, 255, 7, 255, 7, 255}},
		{"16 bits", tiny(image.NewGray16(r), color.Gray16{1}, color.Gray16{65535}), pictures.Options{Channels: 1}, []float64{1. / 65535, 1}},
		{"colours", tiny(image.NewRGBA(r), color.RGBA{1, 2, 3, 255}, color.RGBA{4, 5, 6, 255}), pictures.Options{Channels: 3, White: 255}, []float64{1, 4, 2, 5, 3, 6}},
		{"channels last", tiny(image.NewRGBA(r), color.RGBA{1, 2, 3, 255}, color.RGBA{4, 5, 6, 255}), pictures.Options{Channels: 3, ChannelsLast: true, White: 255}, []float64{1, 2, 3, 4, 5, 6}},
		{"alpha", tiny(image.NewNRGBA(r), half, color.NRGBA{1, 2, 3, 255}), pictures.Options{Channels: 4, White: 255}, []float64{200, 1, 100, 2, 50, 3, 128, 255}},
		{"palette", tiny(image.NewPaletted(r, color.Palette{color.RGBA{9, 8, 7, 255}, color.RGBA{1, 2, 3, 255}}), color.RGBA{9, 8, 7, 255}, color.RGBA{1, 2, 3, 255}), pictures.Options{Channels: 3, White: 255}, []float64{9, 1, 8, 2, 7, 3}},
		{"palette with alpha", tiny(image.NewPaletted(r, color.Palette{half, color.NRGBA{1, 2, 3, 255}}), half, color.NRGBA{1, 2, 3, 255}), pictures.Options{Channels: 4, White: 255}, []float64{200, 1, 100, 2, 50, 3, 128, 255}},
	} {
		draw(t, filepath.Join(dir, "p.png"), c.m)
		c.o.Height, c.o.Width = 1, 2
		got, err := read(t, dir, c.o, "p")
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.want, err)
		}
	}
}

// read is the picture of the one row.
func read(t *testing.T, dir string, o pictures.Options, names ...string) (got []float64, err error) {
	t.Helper()
	rows := data.NewTable(len(names))
	if err := rows.AddTexts("file", names); err != nil {
		t.Fatal(err)
	}
	s, err := pictures.Join("img", rows, filepath.Join(dir, "{file}.png"), o)
	if err != nil {
		return nil, err
	}
	for b, err := range s.Batches(context.Background(), []string{"img"}) {
		if err != nil {
			return nil, err
		}
		m, err := b.Tensor("img")
		if err != nil {
			return nil, err
		}
		got = append(got, m.RawMatrix().Data...)
	}
	return got, nil
}

// What is wrong with a picture is told with its row and file.
func TestBadPictures(t *testing.T) {
	dir := t.TempDir()
	good := tiny(image.NewRGBA(image.Rect(0, 0, 2, 1)), color.RGBA{1, 2, 3, 255}, color.RGBA{4, 5, 6, 255})
	draw(t, filepath.Join(dir, "good.png"), good)
	draw(t, filepath.Join(dir, "large.png"), image.NewGray(image.Rect(0, 0, 3, 5)))
	draw(t, filepath.Join(dir, "clear.png"), tiny(image.NewNRGBA(image.Rect(0, 0, 2, 1)), color.NRGBA{1, 2, 3, 128}, color.NRGBA{4, 5, 6, 255}))
	raw, err := os.ReadFile(filepath.Join(dir, "good.png"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"cut": raw[:len(raw)-20], "photo": []byte("\xff\xd8\xff\xe0"), "text": []byte("no picture")} {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		channels int
		want     string
	}{
		{"none", 3, "no such file or directory: put it there, or leave the row out"},
		{"large", 1, "it is 5 x 3, height by width, and the network takes 1 x 2: resize it as in training"},
		{"clear", 3, "it has transparent places"},
		{"good", 1, "it has colours, and the network takes grey pictures"},
		{"cut", 3, "it is cut off or damaged (png: invalid format: unexpected EOF): fetch it, or write it, again, or leave the row out"},
		{"photo", 3, "it is a JPEG"},
		{"text", 3, "it cannot be read as PNG (png: invalid format: not a PNG file): fetch it, or write it, again, or leave the row out"},
	} {
		names := []string{"good", c.name}
		row := 2
		if c.name == "good" || c.channels == 1 {
			names, row = []string{c.name}, 1
		}
		_, err := read(t, dir, pictures.Options{Height: 1, Width: 2, Channels: c.channels}, names...)
		where := fmt.Sprintf("data: column %q, data row %d: picture %q: ", "file", row, filepath.Join(dir, c.name+".png"))
		if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s%s", c.name, err, where, c.want)
		}
	}
	rows := data.NewTable(1)
	if err := rows.AddNumeric("id", []float64{1}); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"photos": "in braces", "photos/{id}{id}": "once, in braces", "photos/{file}": `no column "file"`, "photos/{id}": `column "id" holds numbers`,
	} {
		if _, err := pictures.Join("img", rows, pattern, pictures.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}
