package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/store"
	"github.com/pho-go/pho/internal/base/durable"
)

// planDocument is the file that makes a folder a plan.
const planDocument = "plan.json"

// staging is a private folder with copies of the files, other than data, that a command names
// by URLs: networks, plans, parts, results. They lie in it as in their stores, so that what
// is recorded of one as seen from another is the same as on one disk. What the command wrote
// goes to the store when it has succeeded. Data are not copied: commands read them by ranges.
// A pass over the rows takes no longer than a copy of them would.
type staging struct {
	files store.Store       // nil: the disk alone
	root  string            // "": nothing is staged yet
	query map[string]string // by the beginning of URLs: ?region=...
	out   []output

	unfinished *durable.Unfinished
}

// output is a URL that the command may write, and what was there before, by name of the file
// seen from it; "" is itself.
type output struct {
	url    string
	before map[string][sha256.Size]byte
	adds   bool      // to the single file that was there: it is replaced only while it is that one
	was    data.File // that file; nil if there was none
}

// use is what a command does with the file of a URL.
type use int

const (
	reads  use = iota
	writes     // anew
	adds       // reads it, and replaces it
)

// stage puts local paths in the place of URLs in the flags and arguments of a command.
func (g *staging) stage(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "data" {
			err = g.flag(ctx, f)
		}
	})
	if err != nil || cmd.Flags().Lookup("data") != nil { // then arguments are data
		return err
	}
	for i, arg := range args {
		use := reads
		if cmd.Name() == "report" {
			use = writes
		}
		if use == reads && served.IsAddress(arg) { // a model's: the command says what it makes of it
			continue
		}
		if args[i], err = g.local(ctx, arg, use); err != nil {
			return err
		}
	}
	return nil
}

func (g *staging) flag(ctx context.Context, f *pflag.Flag) error {
	use := reads
	if f.Name == "model" && isAddress(f.Value) { // a model that runs there is no object
		return nil
	}
	switch f.Name {
	case "out", "plan":
		use = writes
	case "state":
		use = adds
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values := list.GetSlice()
		changed := false
		for i, v := range values {
			name, file, array := strings.Cut(v, "=@")
			if !array || !data.IsURL(file) {
				name, file = "", v
			}
			file, last := strings.CutSuffix(file, channelsLast)
			local, err := g.local(ctx, file, use)
			if err != nil {
				return err
			}
			if local != file {
				values[i], changed = local, true
				if name != "" {
					values[i] = name + "=@" + local
				}
				if last {
					values[i] += channelsLast
				}
			}
		}
		if !changed {
			return nil
		}
		return list.Replace(values)
	}
	value := f.Value.String()
	local, err := g.local(ctx, value, use)
	if err != nil || local == value {
		return err
	}
	return f.Value.Set(local)
}

// local is the copy of what a URL names; other names as they are.
func (g *staging) local(ctx context.Context, name string, as use) (string, error) {
	if !data.IsURL(name) {
		return name, nil
	}
	if g.files == nil {
		return "", fmt.Errorf("%q: %w", name, data.ErrURL)
	}
	copied, err := g.place(name)
	if err != nil {
		return "", err
	}
	before, was, err := g.fetch(ctx, name, copied, as)
	if err != nil {
		return "", err
	}
	if as != reads {
		g.out = append(g.out, output{url: name, before: before, adds: as == adds, was: was})
	}
	return copied, nil
}

// place is where the copy of a URL lies.
func (g *staging) place(name string) (string, error) {
	base, query, _ := strings.Cut(name, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	host, key, _ := strings.Cut(rest, "/")
	key = strings.TrimSuffix(key, "/")
	if key == "" || path.Clean("/"+key) != "/"+key || strings.ContainsAny(host, `\`) || host == ".." || host == "." {
		return "", fmt.Errorf("%q names no object or folder of a store: write scheme://bucket/name", name)
	}
	if g.root == "" {
		root, err := os.MkdirTemp("", "pho-objects-")
		if err != nil {
			return "", fmt.Errorf("no room for temporary copies of objects: %w", err)
		}
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return "", err
		}
		g.root = root
		g.query = map[string]string{}
		g.unfinished.Add(root, func() { _ = os.RemoveAll(root) })
	}
	if query != "" {
		g.query[scheme+"://"+host] = "?" + query
	}
	place := filepath.Join(g.root, scheme, host, filepath.FromSlash(key))
	return place, os.MkdirAll(filepath.Dir(place), 0o700)
}

func (g *staging) url(place string) (string, bool) {
	rel, err := filepath.Rel(g.root, place)
	if err != nil || g.root == "" || strings.HasPrefix(rel, "..") {
		return "", false
	}
	parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if len(parts) < 3 {
		return "", false
	}
	where := parts[0] + "://" + parts[1]
	return where + "/" + parts[2] + g.query[where], true
}

// fetch copies an object, or a folder of objects, and says what it copied, and of which object. Of contributions
// that are to be written over, the name is enough. Nothing there is no error: the command says what
// it misses.
func (g *staging) fetch(ctx context.Context, name, to string, as use) (copied map[string][sha256.Size]byte, was data.File, err error) {
	copied = map[string][sha256.Size]byte{}
	was, err = g.files.Open(ctx, strings.Replace(name, "/?", "?", 1))
	if err == nil {
		defer was.Close()
		copied[""], err = g.copy(was, name, to)
		return copied, was, errors.Join(err, g.besides(ctx, to))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%q cannot be read: %w", name, durable.Reason(err))
	}
	if as == adds { // a folder is none
		return copied, nil, nil
	}
	err = g.fetchFolder(ctx, name, to, as, copied)
	return copied, nil, err
}

// fetchFolder is fetch of the objects in a folder.
func (g *staging) fetchFolder(ctx context.Context, name, to string, as use, copied map[string][sha256.Size]byte) error {
	var objects []string
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		more, err := g.files.List(ctx, store.Join(name, pattern))
		if err != nil {
			return fmt.Errorf("%q cannot be read: %w", name, durable.Reason(err))
		}
		objects = append(objects, more...)
	}
	for _, object := range objects {
		place, err := g.place(object)
		if err != nil {
			return err
		}
		var sum [sha256.Size]byte
		if base := filepath.Base(place); as == writes && (base == resultdir.Contributions || base == resultdir.Parquet) {
			sum, err = sha256.Sum256(nil), os.WriteFile(place, nil, 0o600)
		} else {
			sum, err = g.copyOf(ctx, object, place)
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(to, place)
		if err != nil {
			return err
		}
		copied[filepath.ToSlash(rel)] = sum
	}
	return g.besides(ctx, to)
}

// copyOf writes the object of a name to the disk.
func (g *staging) copyOf(ctx context.Context, name, to string) (sum [sha256.Size]byte, err error) {
	f, err := g.files.Open(ctx, name)
	if err != nil {
		return sum, fmt.Errorf("%q cannot be read: %w", name, durable.Reason(err))
	}
	defer f.Close()
	return g.copy(f, name, to)
}

// copy writes one object to the disk.
func (g *staging) copy(f data.File, name, to string) (sum [sha256.Size]byte, err error) {
	from := data.Section(f, 0, f.Size())
	defer from.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return sum, fmt.Errorf("no room for a temporary copy of %q: %w", name, durable.Reason(err))
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, h), from); err != nil {
		return sum, errors.Join(fmt.Errorf("%q cannot be read: %w", name, durable.Reason(err)), w.Close())
	}
	h.Sum(sum[:0])
	return sum, w.Close()
}

// besides copies what a copied result or plan says that its networks and labels are, as seen
// from it. What is not there is none of its business.
func (g *staging) besides(ctx context.Context, dir string) error {
	type file struct {
		Path    string `json:"path"`
		Members []file `json:"members"`
	}
	var doc struct {
		Model  file   `json:"model"`  // of a decomposition
		Models []file `json:"models"` // of a plan
		Labels *file  `json:"labels"`
	}
	for _, name := range []string{resultdir.Decomposition, planDocument} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if name == planDocument { // its folder of totals may be empty, which no store can show
			if err := os.MkdirAll(filepath.Join(dir, "totals"), 0o700); err != nil {
				return err
			}
		}
		if json.Unmarshal(raw, &doc) != nil {
			continue // whoever reads it says so
		}
		known := append(append([]file{doc.Model}, doc.Model.Members...), doc.Models...)
		if doc.Labels != nil {
			known = append(known, *doc.Labels)
		}
		for _, f := range known {
			if err := g.beside(ctx, dir, f.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *staging) beside(ctx context.Context, dir, recorded string) error {
	if recorded == "" || data.IsURL(recorded) || filepath.IsAbs(recorded) {
		return nil
	}
	place := filepath.Join(dir, filepath.FromSlash(recorded))
	name, ok := g.url(place)
	if !ok {
		return nil
	}
	if _, err := os.Stat(place); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	_, err := g.copyOf(ctx, name, place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// commit writes what the command has written, or removed, to the stores: the file that makes
// a folder a result or a plan last, so that readers find the earlier one, the new one, or
// files whose digests do not fit.
func (g *staging) commit(ctx context.Context) error {
	for _, o := range g.out {
		place, err := g.place(o.url)
		if err != nil {
			return err
		}
		after, err := written(place)
		if err != nil {
			return err
		}
		for _, name := range after {
			if err := g.put(ctx, o, place, name); err != nil {
				return err
			}
		}
		for name := range o.before {
			if !slices.Contains(after, name) && name != "" {
				if err := g.files.Remove(ctx, store.Join(o.url, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// written lists the files of a folder, or "" for a single one, in the order in which to write
// them.
func written(place string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(place, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(place, p)
		if rel == "." {
			rel = ""
		}
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	main := func(name string) bool {
		return name == resultdir.Decomposition || name == planDocument || name == fileTraining || name == comparisonJSON
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case main(a) == main(b):
			return strings.Compare(a, b)
		case main(a):
			return 1
		}
		return -1
	})
	return names, err
}

// put writes a file unless the store has it as it is.
func (g *staging) put(ctx context.Context, o output, place, name string) error {
	f, err := os.Open(filepath.Join(place, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if was, ok := o.before[name]; ok && bytes.Equal(was[:], h.Sum(nil)) {
		return nil
	}
	url := o.url
	if name != "" {
		url = store.Join(o.url, name)
	}
	write := func(w io.Writer) error {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	}
	if o.adds {
		return g.files.Replace(ctx, url, o.was, write)
	}
	return g.files.Write(ctx, url, write)
}

// discard removes all copies.
func (g *staging) discard() {
	if g.root != "" {
		_ = os.RemoveAll(g.root)
		g.unfinished.Drop(g.root)
	}
}

// urlWriter writes to w with URLs in the place of their copies' paths.
type urlWriter struct {
	w io.Writer
	g *staging
}

func (n urlWriter) Write(p []byte) (int, error) {
	if n.g.root == "" || !bytes.Contains(p, []byte(n.g.root)) {
		return n.w.Write(p)
	}
	text := regexp.MustCompile(`(\.\./)*`+regexp.QuoteMeta(n.g.root)+`/([a-z0-9+.-]+)/`).ReplaceAll(p, []byte("$2://"))
	if _, err := n.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refuseSecrets refuses a command line with a URL that holds credentials, before anything is
// printed or recorded.
func refuseSecrets(args []string) error {
	for _, arg := range args {
		for _, u := range store.URLs(arg) {
			if err := store.CheckURL(u); err != nil {
				return usageError{err}
			}
		}
	}
	return nil
}
