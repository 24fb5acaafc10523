package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
)

// fileMembers is the file of a folder of networks that train writes: how they came about.
const fileMembers = "members.json"

// membersFormat names its version.
const membersFormat = "pho.members/1"

// membersFile is what it holds. Settings is what the networks were trained by, as their
// digest, so that a training that is taken up again knows its own.
type membersFile struct {
	Format   string                `json:"format"`
	From     decompose.MembersFrom `json:"from"`
	Members  []string              `json:"members"` // files of the networks, seen from the folder
	Settings string                `json:"settings,omitempty"`
}

// networkFiles are the files that --model names, folders replaced by their files, and how several
// networks came to differ: as asked, as their folder says, or by their seeds.
func networkFiles(models []string, asked string) (paths []string, from decompose.MembersFrom, err error) {
	from = decompose.MembersFrom(asked)
	for _, model := range models {
		info, err := os.Stat(model)
		if err != nil || !info.IsDir() {
			paths = append(paths, model) // Load says what is wrong with it
			continue
		}
		found, how, err := folderNetworks(model)
		if err != nil {
			return nil, "", err
		}
		if from == "" && len(models) == 1 {
			from = how
		}
		paths = append(paths, found...)
	}
	if from == "" {
		from = decompose.Seeds
	}
	if len(models) > 0 && len(paths) == 1 && asked != "" {
		return nil, "", usagef("--members-from %s: there is one network, %q; name several by --model, or their folder", asked, paths[0])
	}
	return paths, from, nil
}

// folderNetworks are the networks of a folder: those that its members.json lists, else its
// files *.onnx and the model.onnx of its subfolders, two at least.
func folderNetworks(dir string) ([]string, decompose.MembersFrom, error) {
	listed, err := readMembers(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	var paths []string
	var from decompose.MembersFrom
	if err == nil {
		from = listed.From
		for _, name := range listed.Members {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
		}
	} else {
		for _, pattern := range []string{"*.onnx", filepath.Join("*", fileNetwork)} {
			found, err := globIn(dir, pattern)
			if err != nil {
				return nil, "", err
			}
			paths = append(paths, found...)
		}
	}
	switch len(paths) {
	case 0:
		return nil, "", fmt.Errorf("--model %q is a folder without networks: it has no *.onnx and no folder with a %s", dir, fileNetwork)
	case 1:
		return nil, "", fmt.Errorf("--model %q is a folder with one network: several have a spread; to decompose the one, name its file, %q", dir, paths[0])
	}
	return paths, from, nil
}

// globIn are the regular files in dir that match the pattern, sorted; dir's own name is not
// one.
func globIn(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), filepath.ToSlash(pattern))
	if err != nil {
		return nil, fmt.Errorf("folder %q: %w", dir, err)
	}
	slices.Sort(names)
	var paths []string
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// readMembers reads the folder's members.json.
func readMembers(dir string) (*membersFile, error) {
	path := filepath.Join(dir, fileMembers)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	doc, err := parseMembers(raw)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return doc, nil
}

// parseMembers reads what writeMembers wrote.
func parseMembers(raw []byte) (*membersFile, error) {
	var doc membersFile
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("it is not what train --members writes: %w", err)
	}
	if doc.Format != membersFormat {
		return nil, fmt.Errorf("format %q is not readable here, this is %q; is the file from a later version?", doc.Format, membersFormat)
	}
	if doc.From != decompose.Seeds && doc.From != decompose.Resamples {
		return nil, fmt.Errorf("its networks differ by %q: it is %s or %s", doc.From, decompose.Seeds, decompose.Resamples)
	}
	for _, name := range doc.Members {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%q lies outside of the folder", name)
		}
	}
	return &doc, nil
}

// loadNetworks reads and checks the networks; their tensors together keep to maxMemory.
func loadNetworks(paths []string, flags *networkFlags) ([]*wiring.Network, error) {
	constants, err := constantValues(flags.constants, len(paths))
	if err != nil {
		return nil, err
	}
	var out []*wiring.Network
	var faults []error
	for i, path := range paths {
		n, err := loadNetwork(path, flags.maxMemory, constants[i], flags.computing)
		faults = append(faults, err)
		out = append(out, n)
	}
	return out, errors.Join(faults...)
}

// addNetworks lists the files of opened networks.
func (s *sources) addNetworks(o *wiring.Opened) {
	for i, m := range o.Networks {
		if o.Files[i].Predictions == nil { // else there is no file
			s.addModel(o.Files[i].Path, m.Graph())
		}
	}
}

// writeMembers writes a folder's members.json.
func writeMembers(dir string, doc *membersFile) error {
	return durable.WriteFile(filepath.Join(dir, fileMembers), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(doc)
	})
}
