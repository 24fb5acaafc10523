package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/drift"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
)

// monitored is a decomposition with what is needed to add rows to a state.
type monitored struct {
	result  *decompose.Result
	opened  *wiring.Opened
	applier *decompose.Applier
	clock   *drift.Clock // of periods; nil: --period names the one of all rows
	within  *drift.Clock // of clusters by time; nil: they are by column, or none
	scores  *scores      // nil: no response
	options *files.Options
	rows    *newRows
}

// add adds the rows of --data to a state, which is new if it is nil.
func (m *monitorFlags) add(ctx context.Context, s streams, f *pflag.FlagSet, dir string, further []string, state *drift.State) (*drift.State, error) {
	o, err := m.data.options(s)
	if err != nil {
		return nil, err
	}
	paths, err := m.data.files(further)
	if err != nil {
		return nil, err
	}
	r, err := resultdir.Read(dir)
	if err != nil {
		return nil, err
	}
	of, err := drift.Describe(r, wiring.ReferenceOf(r).SHA256)
	if err != nil {
		return nil, err
	}
	if state, err = m.stateOf(f, of, state); err != nil {
		return nil, err
	}
	opened, err := reopen(r, dir, m.model, m.maxMemory, m.computing)
	if err != nil {
		return nil, err
	}
	writeNotes(s, opened)
	var in sources
	in.addNetworks(opened)
	in.addData(paths, nil, s.in)
	in.addResult(dir)
	if err := in.spareFile("--state", m.state); err != nil {
		return nil, err
	}
	if within(m.state, dir) {
		return nil, fmt.Errorf("--state %q lies in the decomposition, which is replaced as a whole: name a file elsewhere", m.state)
	}
	with := &monitored{result: r, opened: opened, options: o, rows: new(newRows)}
	if with.rows.policy, err = unseenPolicy(m.data.unseen); err != nil {
		return nil, err
	}
	if with.applier, err = r.Applier(opened.Model); err != nil {
		return nil, err
	}
	if err := m.clocks(with); err != nil {
		return nil, err
	}
	if m.response != "" {
		if with.scores, err = newScores(r, m.response); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		if err := m.addFile(ctx, s, with, path, state); err != nil {
			return nil, inFiles(err, []string{path})
		}
	}
	with.rows.warn(s)
	return state, nil
}

// stateOf is a new state, or the one that is there if it counts rows as the flags say; those that
// are not given are taken from it.
func (m *monitorFlags) stateOf(f *pflag.FlagSet, of drift.Decomposition, state *drift.State) (*drift.State, error) {
	if state != nil {
		m.inherit(f, state.Settings())
	}
	if m.time == "" && m.period == "" {
		return nil, usagef("--time is missing: name the column that says when a row was, or with --period the one period of all rows")
	}
	settings := drift.Settings{Time: m.time, Weights: m.weights, Response: m.response, Block: int(m.block), Cluster: m.cluster}
	if m.time != "" {
		settings.By, settings.Zone = drift.Unit(m.by), m.zone
	}
	fresh, err := drift.New(of, settings)
	if err != nil {
		return nil, err
	}
	if state == nil {
		return fresh, nil
	}
	if err := state.Merge(fresh); err != nil {
		return nil, fmt.Errorf("state %q: %w; or name another state", m.state, err)
	}
	return state, nil
}

// inherit sets the flags that were not given to what a state says.
func (m *monitorFlags) inherit(f *pflag.FlagSet, s drift.Settings) {
	set := func(flag string, to *string, value string) {
		if !f.Changed(flag) && value != "" {
			*to = value
		}
	}
	if m.period == "" {
		set("time", &m.time, s.Time)
	}
	set("by", &m.by, string(s.By))
	set("zone", &m.zone, s.Zone)
	set("weights", &m.weights, s.Weights)
	set("response", &m.response, s.Response)
	if m.block == 0 {
		set("cluster", &m.cluster, s.Cluster)
	}
	if m.block == 0 && m.cluster == "" {
		m.block = rowCount(s.Block)
	}
}

// clocks are those of periods and of clusters.
func (m *monitorFlags) clocks(with *monitored) (err error) {
	if m.time != "" {
		if with.clock, err = drift.NewClock(drift.Unit(m.by), m.zone); err != nil {
			return err
		}
	}
	if unit := drift.Unit(m.cluster); unit != drift.Label && slices.Contains(drift.Units(), unit) {
		if m.time == "" {
			return usagef("--cluster %s: clusters by time need --time", m.cluster)
		}
		with.within, err = drift.NewClock(unit, m.zone)
	}
	return err
}

// extra are the columns that are read besides those of the network and the terms.
func (m *monitorFlags) extra(with *monitored) (columns, texts []string) {
	for _, c := range []string{m.time, m.cluster} {
		if c != "" && (c != m.cluster || with.within == nil) {
			columns, texts = append(columns, c), append(texts, idText(c, columnsRead(with.result, with.opened.Reference))...)
		}
	}
	if m.weights != "" {
		columns = append(columns, m.weights)
	}
	if with.scores != nil {
		columns = append(columns, with.scores.columns()...)
	}
	return columns, texts
}

// addFile adds the rows of one file.
func (m *monitorFlags) addFile(ctx context.Context, s streams, with *monitored, path string, state *drift.State) error {
	o, network := *with.options, with.opened.Networks[0]
	columns, texts := m.extra(with)
	o.Texts = texts
	if err := with.opened.Reading(with.result, &o); err != nil {
		return err
	}
	stream := sha256.New()
	source := drift.Source{Name: filepath.Base(path)}
	if path == "-" {
		source.ID, source.Name = "standard input", "standard input" // until it has been read
		o.Stdin = io.TeeReader(o.Stdin, stream)
	} else if err := hashFile(path, stream); err != nil {
		return err
	} else {
		source.ID = hex.EncodeToString(stream.Sum(nil))
	}
	add, err := state.Begin(source)
	if err != nil {
		return err
	}
	src, err := openRows([]string{path}, &o, nil, network.Graph())
	if err != nil {
		return err
	}
	defer src.Close()
	known, applier, err := with.rows.of(with.result, with.opened, src, with.applier)
	if err != nil {
		return err
	}
	for parts, err := range applier.All(ctx, with.opened.Seen(with.result, known), columns...) {
		if err != nil {
			return err
		}
		rows, err := m.rows(with, parts)
		if err != nil {
			return err
		}
		if err := add.Add(parts, *rows); err != nil {
			return err
		}
	}
	if path == "-" {
		if _, err := io.Copy(io.Discard, o.Stdin); err != nil {
			return err
		}
		add.Rename(hex.EncodeToString(stream.Sum(nil)))
	}
	if total, dropped := src.Rows(); dropped > 0 {
		fmt.Fprintf(s.err, "warning: %d of %d rows hold missing cells and were left out (--na drop)\n", dropped, total)
	}
	return add.End()
}

// hashFile adds the bytes of a file to a hash. A pipe, which cannot be read twice, is an error.
func hashFile(path string, to io.Writer) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file: read it from standard input, with -", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%q cannot be read: %w", path, durable.Reason(err))
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// rows says of the rows of a batch in which period and cluster they are, and their weights.
func (m *monitorFlags) rows(with *monitored, parts *decompose.Parts) (*drift.Rows, error) {
	b := parts.Batch
	out := &drift.Rows{Period: m.period}
	var err error
	if m.weights != "" {
		if out.Weights, err = b.Numeric(m.weights); err != nil {
			return nil, err
		}
	}
	if with.scores != nil {
		if out.Errors, out.Losses, err = with.scores.of(parts); err != nil {
			return nil, err
		}
	}
	if m.time != "" {
		if out.Periods, err = namesIn(parts, m.time, with.clock.Period); err != nil {
			return nil, err
		}
	}
	switch {
	case with.within != nil:
		out.Clusters, err = namesIn(parts, m.time, with.within.Period)
	case m.cluster != "":
		out.Clusters, err = namesIn(parts, m.cluster, func(cell string) (string, error) { return cell, nil })
	}
	return out, err
}

// namesIn are the names that cells of a column stand for.
func namesIn(parts *decompose.Parts, column string, name func(string) (string, error)) ([]string, error) {
	text, err := parts.Batch.Texts(column)
	if err != nil {
		return nil, err
	}
	out := make([]string, parts.Batch.Rows())
	var cell, known string // neighbours often have the same
	for i := range out {
		if t := text(i); i == 0 || t != cell {
			if known, err = name(t); err != nil {
				return nil, fmt.Errorf("data row %d: column %q: %w", parts.Batch.Row(i), column, err)
			}
			cell = t
		}
		out[i] = known
	}
	return out, nil
}
