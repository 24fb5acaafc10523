package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
)

// source is a file that a command reads, by what it is to the command.
type source struct {
	what string // "the model", "a data file"
	path string
	info os.FileInfo // nil: it is not there
}

// sources are all files that a command reads. No output may be one of them, by
// whatever name: links and names that differ in case are seen by comparing files.
type sources []source

// add lists paths. Streams cannot be overwritten.
func (s *sources) add(what string, paths ...string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			*s = append(*s, source{what, path, info})
		}
	}
}

// addOpen lists what a stream reads from, if that is a file: of pho ... < rows.csv.
func (s *sources) addOpen(what string, stream any) {
	if f, ok := stream.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			*s = append(*s, source{what: what, info: info})
		}
	}
}

// addModel lists the network's file and those in which it keeps data of its tensors.
func (s *sources) addModel(path string, g *onnx.Graph) {
	s.add("the model", path)
	for location := range g.External() {
		s.add("data of the model", filepath.Join(filepath.Dir(path), filepath.FromSlash(location)))
	}
}

// addData lists the data files and the arrays of --input. "-" is stdin.
func (s *sources) addData(paths []string, tensors []tensorInput, stdin any) {
	s.add("a data file", paths...)
	for _, path := range paths {
		if path == "-" {
			s.addOpen("standard input", stdin)
		}
	}
	for _, t := range tensors {
		s.add("the array of --input "+t.name, t.path)
	}
}

// addResult lists the parts of the decomposition in dir.
func (s *sources) addResult(dir string) {
	for _, name := range resultdir.Files() {
		s.add("part of the decomposition", filepath.Join(dir, name))
	}
}

// spareFile refuses an output file that is one of the sources. flag is what named it.
func (s sources) spareFile(flag, path string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // nothing is there
	}
	return s.spareInfo(flag, path, out)
}

// spareStream refuses to write to a stream that goes into one of the sources.
func (s sources) spareStream(what string, stream any) error {
	if f, ok := stream.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return s.spareInfo(what, "", info)
		}
	}
	return nil
}

func (s sources) spareInfo(flag, path string, info os.FileInfo) error {
	for _, in := range s {
		if !os.SameFile(info, in.info) {
			continue
		}
		text := flag
		if path != "" {
			text += fmt.Sprintf(" %q", path)
		}
		text += " is " + in.what
		if in.path != "" && in.path != path {
			text += fmt.Sprintf(", %q", in.path)
		}
		return fmt.Errorf("%s, and would be overwritten: name another file", text)
	}
	return nil
}

// spareDir refuses an output directory that holds one of the sources, as all of it is
// replaced.
func (s sources) spareDir(flag, dir string) error {
	for _, in := range s {
		if in.path != "" && within(in.path, dir) {
			return fmt.Errorf("%s %q holds %s, %q, and would be replaced: name another directory", flag, dir, in.what, in.path)
		}
	}
	return nil
}

// within tells whether path, as it is written or with links followed, lies in dir.
func within(path, dir string) bool {
	target, err := os.Stat(dir)
	if err != nil {
		return false // nothing lies in it
	}
	written, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	followed, err := durable.Resolve(path)
	if err != nil {
		return false
	}
	for _, p := range []string{written, followed} {
		for parent := filepath.Dir(p); ; parent = filepath.Dir(parent) {
			if info, err := os.Stat(parent); err == nil && os.SameFile(info, target) {
				return true
			}
			if parent == filepath.Dir(parent) {
				break
			}
		}
	}
	return false
}

// apart refuses a path, which flag names, in the directory dir, which outFlag names: the
// directory is replaced, and the file would be lost with it.
func apart(flag, path, outFlag, dir string) error {
	if path != "" && (within(path, dir) || sameDir(filepath.Dir(path), dir)) {
		return fmt.Errorf("%s %q lies in %s %q, which is replaced: name a file elsewhere", flag, path, outFlag, dir)
	}
	return nil
}

// sameDir tells whether two directories, which need not be there, are the same.
func sameDir(a, b string) bool {
	x, errX := durable.Resolve(a)
	y, errY := durable.Resolve(b)
	return errX == nil && errY == nil && x == y
}
