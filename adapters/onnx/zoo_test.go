package onnx_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

var updateZoo = flag.Bool("update-zoo", false, "rewrite testdata/zoo/state.txt and, if the backend tests run, testdata/zoo/backend.txt")

var zooDir = filepath.Join("..", "..", "testdata", "zoo")

// zooNetworksDir holds the directories of networks; PHO_ZOO names another one to be judged.
func zooNetworksDir() string {
	if dir := os.Getenv("PHO_ZOO"); dir != "" {
		return dir
	}
	return zooDir
}

// zooNetwork is an entry of a manifest of testdata/zoo/networks.
type zooNetwork struct {
	Name, Why       string
	Inputs, Outputs []zooTensor
	Axis            int  // the batch axis of inputs and outputs
	Mixes           bool // ONNX Runtime gives something else for rows alone, or turned round
	Constants       map[string][]float64
	Tolerance       float64 // 0: by the type of the output
	file            string
	exporter        string
}

// zooTensor is an input or output of a network. Type "maps" is ZipMap's sequence of maps;
// Tensor holds the same numbers as a matrix.
type zooTensor struct {
	Name, Type, Tensor string
	Shape              []int
}

// zooNetworks lists the networks of all manifests, by exporter and name.
func zooNetworks(t *testing.T) []zooNetwork {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(zooNetworksDir(), "networks", "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []zooNetwork
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Exporter string
			Networks []zooNetwork
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, n := range m.Networks {
			n.exporter, n.file = m.Exporter, filepath.Join(filepath.Dir(f), n.Name+".onnx")
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b zooNetwork) int {
		return cmp.Or(strings.Compare(a.exporter, b.exporter), strings.Compare(a.Name, b.Name))
	})
	return all
}

const agrees = "agrees"

// TestZoo runs the networks of testdata/zoo, which ten exporters wrote, on
// their rows and compares with what ONNX Runtime computes. Each network agrees or is
// refused with a reason; testdata/zoo/state.txt says which, so that nothing gets worse
// without a word and what gets better is seen. A wrong answer always fails.
func TestZoo(t *testing.T) {
	networks := zooNetworks(t)
	if len(networks) < 120 && zooNetworksDir() == zooDir {
		t.Fatalf("only %d networks", len(networks))
	}
	var states []string
	exporters := newTally()
	reasons := newTally()
	for _, n := range networks {
		refusal, err := n.judge()
		if err != nil {
			t.Errorf("%s/%s (%s): WRONG: %v", n.exporter, n.Name, n.Why, err)
			exporters.add(n.exporter, "wrong")
			continue
		}
		state := agrees
		if n.Mixes && refusal == nil {
			t.Errorf("%s/%s (%s): opens, and mixes rows in ONNX Runtime", n.exporter, n.Name, n.Why)
		}
		if refusal != nil {
			if zooNetworksDir() != zooDir {
				t.Logf("%s: %v", n.Name, refusal)
			}
			state = "refused: " + reason(refusal)
			reasons.add(reason(refusal), "refused")
		}
		exporters.add(n.exporter, strings.SplitN(state, ":", 2)[0])
		states = append(states, fmt.Sprintf("%s/%s\t%s", n.exporter, n.Name, state))
	}
	if zooNetworksDir() != zooDir {
		t.Logf("by exporter\n%s%s", exporters.table("", agrees, "refused", "wrong"), strings.Join(states, "\n"))
		return
	}
	compareGolden(t, filepath.Join(zooDir, "state.txt"),
		"# What TestZoo of adapters/onnx finds; go test ./adapters/onnx -run TestZoo -update-zoo writes it.\n"+
			exporters.table("# ", agrees, "refused")+strings.Join(states, "\n")+"\n")
	t.Logf("by exporter\n%sby reason\n%s", exporters.table("", agrees, "refused", "wrong"), reasons.table("", "refused"))
}

// compareGolden fails where text is not what the file holds, line by line.
func compareGolden(t *testing.T, file, text string) {
	t.Helper()
	if *updateZoo && !t.Failed() {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(b), "\n"), strings.Split(text, "\n")
	for _, l := range want {
		if !slices.Contains(got, l) {
			t.Errorf("%s: no longer so: %s", filepath.Base(file), l)
		}
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			t.Errorf("%s: new: %s", filepath.Base(file), l)
		}
	}
	if t.Failed() {
		t.Log("if this is meant, run with -update-zoo and commit the file")
	}
}

// judge loads the network and runs it. refusal: the engine says that it cannot. err:
// it gives another answer than ONNX Runtime.
func (n *zooNetwork) judge() (refusal, err error) {
	f, err := os.Open(n.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o, refusal := openNetwork(f, onnx.Beside(n.file), n.Constants)
	if refusal != nil {
		return refusal, nil
	}
	v, err := n.values()
	if err != nil {
		return nil, err
	}
	if refusal, err := n.runRows(o, v); refusal != nil || err != nil {
		return refusal, err
	}
	return n.runColumns(o, v)
}

var (
	ofNode = regexp.MustCompile(`onnx: node .*? \(([\w.]+|"[^"]*")\): (?s:(.*))$`)
	// What differs from network to network: names, shapes, numbers of nodes.
	names  = regexp.MustCompile(`\s*(\("[^"]*"\)|"[^"]*"|\[[^\]]*\])`)
	causes = []struct{ pattern, name string }{
		{`operator "?([\w.]+)"?.*is not supported`, "operator"},
		{`opset (\d+) of ai.onnx is not supported`, "opset"},
		{`in an external file`, "external data"},
		{`defines functions`, "functions of the model"},
	}
)

// reason is the short form of a refusal: the operator, or what is missing, without the
// names of one network.
func reason(err error) string {
	text := err.Error()
	for _, c := range causes {
		if m := regexp.MustCompile(c.pattern).FindStringSubmatch(text); m != nil {
			if c.name == "operator" {
				return c.name + " " + m[1]
			}
			return c.name
		}
	}
	op := ""
	if m := ofNode.FindStringSubmatch(text); m != nil {
		op, text = m[1]+": ", m[2]
	} else if i := strings.LastIndex(text, "onnx: "); i >= 0 {
		text = text[i+len("onnx: "):]
	}
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ";")
	return op + strings.TrimSpace(names.ReplaceAllString(text, ""))
}

// tally counts by row and column.
type tally struct {
	counts map[string]map[string]int
}

func newTally() *tally { return &tally{map[string]map[string]int{}} }

func (c *tally) add(row, column string) {
	if c.counts[row] == nil {
		c.counts[row] = map[string]int{}
	}
	c.counts[row][column]++
}

// table has a line for each row, the most frequent first column last, and the sums.
func (c *tally) table(prefix string, columns ...string) string {
	rows := make([]string, 0, len(c.counts))
	for r := range c.counts {
		rows = append(rows, r)
	}
	last := columns[len(columns)-1]
	if len(columns) > 1 {
		last = ""
	}
	slices.SortFunc(rows, func(a, b string) int {
		return cmp.Or(c.counts[b][last]-c.counts[a][last], strings.Compare(a, b))
	})
	var s strings.Builder
	sums := map[string]int{}
	line := func(name string, n map[string]int) {
		fmt.Fprintf(&s, "%s%s\t", prefix, name)
		for i, k := range columns {
			if i > 0 {
				s.WriteString(", ")
			}
			fmt.Fprintf(&s, "%d %s", n[k], k)
		}
		s.WriteString("\n")
	}
	for _, r := range rows {
		line(r, c.counts[r])
		for k, n := range c.counts[r] {
			sums[k] += n
		}
	}
	line("all", sums)
	return s.String()
}
