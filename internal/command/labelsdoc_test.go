package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// The file and the commands of docs/labels.md do what the page says.
func TestLabelsPage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/labels.md")
	if err != nil {
		t.Fatal(err)
	}
	page, dir := string(raw), t.TempDir()
	file := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(page)
	if file == nil {
		t.Fatal("the page has no labels file")
	}
	network, err := os.ReadFile(golden("ssn_op13"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"labels.json": file[1], "bike.onnx": string(network),
		"bike.csv": strings.Replace(rows(300), "x0,x1,x2,x3,x4,w,y,n,o,g,dow", "hr,temp,hum,wind,yr,w,cnt,n,o,g,weathersit", 1),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	commands := regexp.MustCompile(`(?m)^    pho (.*)$`).FindAllStringSubmatch(page, -1)
	if len(commands) != 4 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		var args []string
		for _, a := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(c[1], -1) {
			a = strings.Trim(a, "'")
			switch a {
			case "labels.json", "bike.onnx", "bike.csv", "result":
				a = filepath.Join(dir, a)
			}
			args = append(args, a)
		}
		done(t, args...)
	}
	shown := visible(read(t, dir, "result", resultdir.Report))
	for _, want := range []string{"s(Hour of day)", "Temperature (°C)", "rain or snow", "Comfort", "Expected rentals", "Rentals"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}
