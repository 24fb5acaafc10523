package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is what `go list` says of a module.
type module struct {
	Path, Version, Dir string
	Main               bool

	packages []string // directories of what is linked of it
}

// licencesOf is the text of all licences of what is linked into the programs on a
// platform, Go's own among them. A module without a licence file is an error.
func licencesOf(ctx context.Context, root string, p platform) ([]byte, error) {
	linked, err := linkedModules(ctx, root, p)
	if err != nil {
		return nil, err
	}
	goroot, err := output(ctx, root, nil, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(goroot), "\n")
	if len(lines) != 2 {
		return nil, fmt.Errorf("go env says %q of GOROOT and GOVERSION", goroot)
	}
	linked = append([]module{{Path: "the Go standard library and runtime", Version: lines[1], Dir: lines[0]}}, linked...)
	var text bytes.Buffer
	text.WriteString("pho contains the following software of others.\n")
	for _, m := range linked {
		texts, err := licenceFiles(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("licence of %s: %w", m.Path, err)
		}
		for _, dir := range m.below() {
			inner, err := licenceFiles(dir)
			if err != nil {
				return nil, fmt.Errorf("licence of %s: %w", m.Path, err)
			}
			for _, t := range inner {
				name, err := filepath.Rel(m.Dir, filepath.Join(dir, t.name))
				if err != nil {
					return nil, err
				}
				texts = append(texts, file{name: filepath.ToSlash(name), data: t.data})
			}
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("module %s in %s has no licence file", m.Path, m.Dir)
		}
		for _, t := range texts {
			fmt.Fprintf(&text, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 72), m.Path, m.Version, t.name, bytes.TrimSpace(t.data))
		}
	}
	return text.Bytes(), nil
}

// linkedModules are the modules of the programs' packages, but for pho's own.
func linkedModules(ctx context.Context, root string, p platform) ([]module, error) {
	var list strings.Builder
	for _, own := range programs() {
		text, err := output(ctx, filepath.Join(root, own.module), p.environment(), "go", "list", "-deps", "-json=Dir,Module", "./cmd/"+own.name)
		if err != nil {
			return nil, err
		}
		list.WriteString(text)
	}
	known := map[string]*module{}
	for d := json.NewDecoder(strings.NewReader(list.String())); ; {
		var pkg struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&pkg); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if pkg.Module != nil && !pkg.Module.Main && pkg.Module.Path != "github.com/pho-go/pho" { // which the helper's module has by its folder
			if known[pkg.Module.Path] == nil {
				known[pkg.Module.Path] = pkg.Module
			}
			m := known[pkg.Module.Path]
			m.packages = append(m.packages, pkg.Dir)
		}
	}
	var all []module
	for _, m := range known {
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// below are the directories of the linked packages and those above them in the module,
// sorted: parts taken from elsewhere have licences of their own there.
func (m module) below() []string {
	var dirs []string
	for _, dir := range m.packages {
		for ; strings.HasPrefix(dir, m.Dir+string(filepath.Separator)); dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// licenceFiles are those at the top of dir, and in a folder of third parties' ones.
func licenceFiles(dir string) ([]file, error) {
	licence := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
	var texts []file
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		third := strings.HasPrefix(filepath.ToSlash(name), "THIRD_PARTY_LICENSES")
		switch {
		case e.IsDir() && name != "." && !third:
			return filepath.SkipDir
		case e.IsDir() || !third && !licence.MatchString(e.Name()):
			return nil
		}
		data, err := os.ReadFile(path)
		texts = append(texts, file{name: filepath.ToSlash(name), data: data})
		return err
	})
	return texts, err
}
