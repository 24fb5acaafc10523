package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/base/durable"
)

// unplanned are the flags of decompose that a plan does not have: of one machine and its
// files.
func unplanned() []string {
	return []string{"out", "log", "workers", "zeta-cache", "max-memory", "resume", "checkpoint"}
}

// fileFlags are the flags of files, which a plan records by their content.
func fileFlags() []string { return []string{"model", "data", "labels"} }

// addPlanned defines those flags of decompose that a plan has, the very same.
func (d *decomposeFlags) addPlanned(f *pflag.FlagSet) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = false
	d.add(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(unplanned(), flag.Name) {
			f.AddFlag(flag)
		}
	})
}

// recorded are the values of the flags that were given, but for files.
func recorded(f *pflag.FlagSet) map[string][]string {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(decomposeFlags).addPlanned(own)
	out := map[string][]string{}
	f.Visit(func(flag *pflag.Flag) {
		if own.Lookup(flag.Name) == nil || slices.Contains(fileFlags(), flag.Name) {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			out[flag.Name] = list.GetSlice()
			return
		}
		out[flag.Name] = []string{flag.Value.String()}
	})
	return out
}

// restored are flags with recorded values.
func restored(request map[string][]string) (*decomposeFlags, error) {
	d := new(decomposeFlags)
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	d.add(f)
	for name, values := range request {
		flag := f.Lookup(name)
		if flag == nil || slices.Contains(unplanned(), name) || slices.Contains(fileFlags(), name) || len(values) == 0 {
			return nil, fmt.Errorf("it asks for %q, which is no option here; is it from a later version?", name)
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			if err := list.Replace(values); err != nil {
				return nil, fmt.Errorf("its option %q: %w", name, err)
			}
			continue
		}
		if err := flag.Value.Set(values[0]); err != nil {
			return nil, fmt.Errorf("its option %q is %q: %w", name, values[0], err)
		}
	}
	return d, nil
}

// isURL tells places in object stores from paths.
func isURL(path string) bool { return strings.Contains(path, "://") }

// seenFrom is path as seen from the directory dir, with slashes; URLs as they are.
func seenFrom(dir, path string) (string, error) {
	if isURL(path) {
		return path, nil
	}
	from, err := durable.Resolve(dir)
	if err != nil {
		return "", err
	}
	to, err := durable.Resolve(path)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(from, to); err == nil {
		return filepath.ToSlash(rel), nil
	}
	return to, nil
}

// placeIn is the place of a file that is recorded as seen from dir.
func placeIn(dir, recorded string) string {
	path := filepath.FromSlash(recorded)
	if isURL(recorded) || filepath.IsAbs(path) {
		return recorded
	}
	return filepath.Join(dir, path)
}

// filesOf puts the plan's files into d: the recorded ones, or the ones that models and data name in
// their place.
func (d *decomposeFlags) filesOf(p *plan.Plan, models, data []string) {
	for _, m := range p.Models {
		d.form = m.Form
		d.models = append(d.models, placeIn(p.Dir(), m.Path))
	}
	if len(models) > 0 {
		d.models = models
	}
	for _, path := range p.Data {
		d.data.paths = append(d.data.paths, placeIn(p.Dir(), path))
	}
	if len(data) > 0 {
		d.data.paths = data
	}
	if p.Labels != nil {
		d.labels = placeIn(p.Dir(), p.Labels.Path)
	}
}
