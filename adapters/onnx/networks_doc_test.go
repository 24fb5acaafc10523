package onnx_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// TestNetworksPage: docs/networks.md lists the operators that there are, and counts what
// state.txt and backend.txt do. -update-zoo writes it.
func TestNetworksPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "networks.md")
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, want := range map[string]string{"zoo": zooTable(t), "operators": operatorTable()} {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		own, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for %s", page, name)
		}
		if own != want && !*updateZoo {
			t.Errorf("%s: the part %q is not what there is; go test ./adapters/onnx -run 'TestZoo|TestNetworksPage' -update-zoo", page, name)
		}
		text = before + begin + want + end + after
	}
	if *updateZoo {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// zooTable is a line for each exporter, from the heads of state.txt and backend.txt.
func zooTable(t *testing.T) string {
	var w strings.Builder
	w.WriteString("| exporter | open and agree | refused |\n|---|---|---|\n")
	for _, line := range comments(t, "state.txt") {
		var name string
		var open, refused int
		if _, err := fmt.Sscanf(line, "# %s %d agrees, %d refused", &name, &open, &refused); err == nil {
			fmt.Fprintf(&w, "| %s | %d | %d |\n", name, open, refused)
		}
	}
	for _, line := range comments(t, "backend.txt") {
		var right, wrong, refused int
		if _, err := fmt.Sscanf(line, "# applicable %d right, %d wrong, %d refused", &right, &wrong, &refused); err == nil {
			fmt.Fprintf(&w, "\nOf the onnx package's tests of single operators %d of %d are right, %d are refused and %d wrong.\n", right, right+wrong+refused, refused, wrong)
		}
	}
	return w.String()
}

func comments(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(zooDir, file))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return !strings.HasPrefix(l, "# ") })
}

// operatorTable lists the operators by domain and first opset.
func operatorTable() string {
	byDomain, all := map[string]map[int][]string{}, map[string]int{}
	table := operator.NewFloat64()
	for _, key := range table.Keys() {
		e := table[key]
		domain := e.Domain
		if domain == "" {
			domain = "ai.onnx"
		}
		if domain != "pho" { // steps within other nodes
			if byDomain[domain] == nil {
				byDomain[domain] = map[int][]string{}
			}
			byDomain[domain][e.Versions[0]] = append(byDomain[domain][e.Versions[0]], e.Name)
			all[domain]++
		}
	}
	var w strings.Builder
	for _, domain := range slices.Sorted(maps.Keys(byDomain)) {
		fmt.Fprintf(&w, "**%s** (%d)", domain, all[domain])
		for _, opset := range slices.Sorted(maps.Keys(byDomain[domain])) {
			fmt.Fprintf(&w, "; from %d: %s", opset, strings.Join(byDomain[domain][opset], ", "))
		}
		w.WriteString(".\n\n")
	}
	w.WriteString("Besides: If, Loop, Scan, the operators on sequences and optionals, and Dropout's mask, which are expanded.\n")
	return w.String()
}
