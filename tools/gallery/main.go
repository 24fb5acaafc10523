// Command gallery draws the pictures of docs/gallery.md: it makes the results anew, from the
// demo and from the data of the tutorials, opens their reports in Chromium, without a window
// and without the network, and keeps a section of each as docs/gallery/NAME.png.
//
//	go run ./gallery -root .. -chromium /usr/bin/chromium
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// picture is a section of a page.
type picture struct {
	name    string
	page    string // below the folder of results
	section string // CSS selector
	figures []int  // of the section's figures, from 0; nil: all
}

var pictures = []picture{
	{"headline", "demo/ssn/report.html", `section:has(> #p1-headline)`, nil},
	{"curves", "demo/nam/report.html", `section:has(> #p1-effects)`, []int{1, 3}},
	{"effects", "flats/report.html", `section:has(> #p1-effects)`, []int{1, 2, 3}},
	{"left", "plain/report.html", `section:has(> #p1-left)`, nil},
	{"importance", "flats/report.html", `section:has(> #p1-importance)`, nil},
}

// commands make the results; each runs in the folder of results, with the tutorial's data in it.
var commands = [][]string{
	{"demo", "--out", "demo"},
	{"decompose", "--model", "flats.onnx", "--data", "flats.csv", "--na", "drop", "--formula", "rent ~ s(area) + s(age) + s(floor, k=5) + district", "--out", "plain"},
	{"decompose", "--model", "flats.onnx", "--data", "flats.csv", "--na", "drop", "--interactions", "1", "--formula", "rent ~ s(area) + s(age) + s(floor, k=5) + district", "--out", "flats"},
}

const width = 1000

func main() {
	root := flag.String("root", ".", "root of the repository")
	chromium := flag.String("chromium", "chromium", "Chromium to draw with")
	flag.Parse()
	if err := work(*root, *chromium); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func work(root, chromium string) error {
	dir, err := os.MkdirTemp("", "gallery-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := results(root, dir); err != nil {
		return err
	}
	out := filepath.Join(root, "docs", "gallery")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	total := int64(0)
	for _, p := range pictures {
		to := filepath.Join(out, p.name+".png")
		if err := p.draw(dir, chromium, to); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		info, err := os.Stat(to)
		if err != nil {
			return err
		}
		total += info.Size()
		fmt.Printf("gallery: %s, %d kB\n", to, info.Size()/1000)
	}
	if total > 1e6 {
		return fmt.Errorf("the pictures have %d bytes together: at most 1 MB is kept in the repository", total)
	}
	return nil
}

// results runs the commands in dir.
func results(root, dir string) error {
	pho, err := filepath.Abs(filepath.Join(dir, "pho"))
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", pho, "./cmd/pho")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", "docs", "pytorch"))); err != nil {
		return err
	}
	for _, args := range commands {
		cmd := exec.Command(pho, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("pho %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

var (
	// A still picture is of the page without its script, whose controls nobody could press; the
	// policy would forbid the one that leaves a section alone.
	live   = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>|(?s)<script.*?</script>`)
	height = regexp.MustCompile(`data-height="(\d+)"`)
)

// alone leaves one section of a page, and notes its height.
const alone = `<script>
const section = document.querySelector(%q), keep = %s;
section.querySelectorAll("figure").forEach((f, i) => keep && !keep.includes(i) && f.remove());
section.style.marginTop = section.firstElementChild.style.marginTop = 0;
document.body.replaceChildren(section);
document.body.style.cssText = "margin:0;padding:12px 20px;max-width:none;width:%dpx;box-sizing:border-box;background:#fff";
document.documentElement.dataset.height = Math.ceil(section.getBoundingClientRect().bottom + 12);
</script>`

// draw keeps the picture in the file to.
func (p picture) draw(dir, chromium, to string) error {
	page, err := os.ReadFile(filepath.Join(dir, p.page))
	if err != nil {
		return err
	}
	keep, err := json.Marshal(p.figures) // null: all
	if err != nil {
		return err
	}
	html := live.ReplaceAllString(string(page), "") + fmt.Sprintf(alone, p.section, keep, width)
	path := filepath.Join(dir, p.name+".html")
	if err := os.WriteFile(path, []byte(html), 0o644); err != nil {
		return err
	}
	options := []string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--host-resolver-rules=MAP * 127.0.0.1:9"}
	dom, err := exec.Command(chromium, append(options, fmt.Sprintf("--window-size=%d,2000", width), "--dump-dom", "file://"+path)...).Output()
	if err != nil {
		return fmt.Errorf("chromium: %w", err)
	}
	m := height.FindSubmatch(dom)
	if m == nil {
		return fmt.Errorf("%s has no section %s", p.page, p.section)
	}
	tall, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return err
	}
	shot := filepath.Join(dir, p.name+".png")
	if out, err := exec.Command(chromium, append(options, fmt.Sprintf("--window-size=%d,%d", width, tall+200), "--screenshot="+shot, "file://"+path)...).CombinedOutput(); err != nil {
		return fmt.Errorf("chromium: %w\n%s", err, out)
	}
	return crop(shot, to, tall)
}

// crop keeps the upper part of a picture.
func crop(from, to string, tall int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	whole, err := png.Decode(in)
	if err != nil {
		return err
	}
	part := image.NewRGBA(image.Rect(0, 0, whole.Bounds().Dx(), min(tall, whole.Bounds().Dy())))
	draw.Draw(part, part.Bounds(), whole, whole.Bounds().Min, draw.Src)
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(out, part); err != nil {
		return err
	}
	return out.Close()
}
