package wiring

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
)

// MemberReference is one of several networks in a Reference.
type MemberReference struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`

	Predictions []string `json:"predictions,omitempty"` // of a model that is known by them, and has no file
}

// memberNames are short names of several networks' files: what tells their paths apart,
// without the extension and without a last "model" that all have. A file that is there
// twice gets a number.
func memberNames(paths []string) []string {
	parts := make([][]string, len(paths))
	for i, path := range paths {
		clean := filepath.ToSlash(filepath.Clean(path))
		parts[i] = strings.Split(strings.TrimSuffix(clean, filepath.Ext(clean)), "/")
	}
	same := func(at func([]string) string) bool {
		for _, p := range parts {
			if len(p) < 2 || at(p) != at(parts[0]) {
				return false
			}
		}
		return true
	}
	for same(func(p []string) string { return p[0] }) {
		for i := range parts {
			parts[i] = parts[i][1:]
		}
	}
	for same(func(p []string) string { return p[len(p)-1] }) {
		for i := range parts {
			parts[i] = parts[i][:len(parts[i])-1]
		}
	}
	names, seen := make([]string, len(paths)), map[string]int{}
	for i, p := range parts {
		names[i] = strings.Join(p, "/")
		if seen[names[i]]++; seen[names[i]] > 1 {
			names[i] = fmt.Sprintf("%s#%d", names[i], seen[names[i]])
		}
	}
	return names
}

// networkNames are short names of several networks, by their files or by their predictions.
func networkNames(networks []*Network) []string {
	if networks[0].Predictions == nil {
		return memberNames(pathsOf(networks))
	}
	var names []string
	for _, n := range networks {
		names = append(names, strings.Join(n.Predictions.Columns, "+"))
	}
	return names
}

func pathsOf(networks []*Network) (paths []string) {
	for _, n := range networks {
		paths = append(paths, n.Path)
	}
	return paths
}

// networks are all of the request's, opened alike.
func (q *Request) networks() []*Network {
	if q.Network == nil {
		return nil
	}
	return append([]*Network{q.Network}, q.Others...)
}

// openOthers opens the further networks as the first was.
func (q *Request) openOthers(first *onnx.Model, open *onnx.Options) ([]*onnx.Model, error) {
	models := []*onnx.Model{first}
	var faults []error
	for _, n := range q.Others {
		bind, err := q.bind(n)
		var m *onnx.Model
		if err == nil {
			m, err = onnx.NewModel(n.Graph, bind, open)
		}
		if err == nil && n.Predictions == nil {
			err = sameNetwork(first, m)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", n, err))
		}
		models = append(models, m)
	}
	return models, errors.Join(faults...)
}

// sameNetwork refuses a network that takes or gives something else than the first one:
// other inputs, types, texts, heads. Outputs and terms are decompose.Join's to compare.
func sameNetwork(first, m *onnx.Model) error {
	inputs := func(m *onnx.Model) map[string][]string {
		columns := map[string][]string{}
		for _, in := range m.Binding() {
			columns[in.Input] = in.Columns
		}
		return columns
	}
	a, errA := first.Graph().Labels()
	b, errB := m.Graph().Labels()
	switch {
	case errors.Join(errA, errB) != nil:
		return errors.Join(errA, errB)
	case !reflect.DeepEqual(inputs(first), inputs(m)):
		return fmt.Errorf("its inputs take the columns %q, those of the first network %q: networks of one task have the same inputs", inputs(m), inputs(first))
	case !reflect.DeepEqual(a, b):
		return errors.New("its file says of other texts than the first network's that it was trained on them: train all networks on the same levels")
	}
	for k, p := range first.Structure().Predictors {
		if other := m.Structure().Predictors; k < len(other) && other[k].Head != p.Head {
			return fmt.Errorf("predictor %q ends in %q, in the first network in %q", p.Name, head(other[k].Head), head(p.Head))
		}
	}
	return nil
}

// sameRounding refuses networks that round other columns than the first: terms see the
// columns as that does. It is for networks that Join has found alike.
func (q *Request) sameRounding(graphs []*onnx.Model) error {
	for i, g := range graphs {
		want := slices.Sorted(slices.Values(graphs[0].Rounded()))
		if !slices.Equal(want, slices.Sorted(slices.Values(g.Rounded()))) {
			return fmt.Errorf("model %q: its inputs round the columns %q, those of the first network %q: networks of one task have inputs of the same types", q.networks()[i].Path, g.Rounded(), want)
		}
	}
	return nil
}

// head is a head, or that there is none.
func head(name string) string {
	if name == "" {
		return "no head"
	}
	return name
}

// joined is the model of all networks, each with the blocks of the formulas: the network
// itself, if there is one.
func (q *Request) joined(models []decompose.Model, extra map[string][]decompose.Block) (decompose.Model, error) {
	if len(models) == 1 {
		return decompose.With(models[0], extra)
	}
	var members []decompose.Member
	for i, name := range networkNames(q.networks()) {
		m, err := decompose.With(models[i], extra)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.networks()[i], err)
		}
		members = append(members, decompose.Member{Name: name, Model: m})
	}
	return decompose.Join(members, q.From)
}

// twice names networks that are the same file.
func (q *Request) twice() string {
	first := map[string]string{}
	var same []string
	for _, n := range q.networks() {
		if n.Predictions != nil {
			continue // columns of other names
		}
		if other, ok := first[n.SHA256]; ok {
			same = append(same, fmt.Sprintf("%q and %q", other, n.Path))
			continue
		}
		first[n.SHA256] = n.Path
	}
	if len(same) == 0 {
		return ""
	}
	return fmt.Sprintf("the networks %s are the same: copies differ by nothing, so that what is said to be between networks is too small; leave them out", strings.Join(same, ", "))
}

// commonFolder is the folder that all paths lie in.
func commonFolder(paths []string) string {
	common := filepath.Dir(paths[0])
	for _, p := range paths[1:] {
		for {
			rel, err := filepath.Rel(common, p)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				break
			}
			next := filepath.Dir(common)
			if next == common {
				return common
			}
			common = next
		}
	}
	return common
}
