package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// maxMembers bounds the networks of a folder.
const maxMembers = 1000

// memberTraining trains several networks into a folder.
type memberTraining struct {
	flags *trainFlags
	cfg   native.Config
	src   files.Source
	list  membersFile
	s     streams
	log   *progress
}

// checkMembers refuses what does not go with --members.
func (d *trainFlags) checkMembers(paths []string) error {
	switch {
	case d.members < 0 || d.members == 1 || d.members > maxMembers:
		return usagef("--members %d: it is a number of networks from 2 to %d", d.members, maxMembers)
	case d.members == 0 && d.resample:
		return usagef("--resample is for several networks, which differ by their rows: give --members N")
	case d.members == 0:
		return nil
	case d.checkpoint != "" || d.resume:
		return usagef("--checkpoint and --resume are for one network: networks of --members are kept as each is finished, and the same command goes on with those that are missing")
	case slices.Contains(paths, "-"):
		return usagef("--members reads the rows to know its networks again: give files, not standard input")
	case native.Architecture(d.kind) == native.GAM && !d.resample:
		return usagef("--kind gam is solved, not trained: all members would be equal without --resample")
	}
	return nil
}

// trainMembers trains the networks that are missing in --out, each into a folder of its
// own, so that an interrupted training keeps those that are finished.
func (d *trainFlags) trainMembers(ctx context.Context, s streams, log *progress, cfg native.Config, src files.Source, paths []string) error {
	t := &memberTraining{flags: d, cfg: cfg, src: src, s: s, log: log, list: membersFile{Format: membersFormat, From: decompose.Seeds}}
	if d.resample {
		t.list.From = decompose.Resamples
	}
	var err error
	if t.list.Settings, err = d.settings(cfg, paths); err != nil {
		return err
	}
	missing, err := t.open()
	if err != nil {
		return err
	}
	if kept := d.members - len(missing); kept > 0 {
		log.note(fmt.Sprintf("%d of %d networks are there already", kept, d.members))
	}
	if err := t.trainAll(ctx, missing); err != nil {
		return inFiles(trainingError{err}, paths)
	}
	log.note(fmt.Sprintf("%d networks, which differ by %s, in %s; pho decompose --model %[3]s takes them all", d.members, t.list.From, shown(d.out)))
	return nil
}

// settings is the digest of all that a network depends on but its number: the
// configuration and the bytes of the data.
func (d *trainFlags) settings(c native.Config, paths []string) (string, error) {
	h := sha256.New()
	t := c.Training
	t.Progress, t.Workers = nil, 0
	fmt.Fprintf(h, "%s %q %q %q %T%+v %+v %+v %+v %+v %t %q %q", c.Architecture, c.Response, c.Weights, c.Offset, c.Family, c.Family,
		c.Structured, c.Deep, c.FeatureNetworks, t, d.resample, d.data.delimiter, d.data.na)
	if more := d.data; more.decimal != "" || more.encoding != "" || more.marks != nil || more.texts != nil {
		fmt.Fprintf(h, " %q %q %q %q", more.decimal, more.encoding, more.marks, more.texts)
	}
	for _, path := range paths {
		if err := addFile(h, path); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func addFile(h io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("data file %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	own := sha256.New()
	if _, err := io.Copy(own, f); err != nil {
		return fmt.Errorf("data file %q: %w", path, durable.Reason(err))
	}
	_, err = h.Write(own.Sum(nil))
	return err
}

// memberFolder is the name of network m's folder, from 1.
func memberFolder(m int) string { return fmt.Sprintf("%03d", m) }

// open checks or makes the folder, and gives the numbers of the networks it lacks.
func (t *memberTraining) open() (missing []int, err error) {
	out := t.flags.out
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--out %q: %w: name a folder", out, durable.Reason(err))
	}
	for _, e := range entries {
		name := e.Name()
		if finished, unfinished := durable.Named(name); unfinished {
			name = finished
		}
		if m, err := strconv.Atoi(name); name != fileMembers && (err != nil || !e.IsDir() || name != memberFolder(m)) {
			return nil, fmt.Errorf("--out %q holds %q, which is no part of a folder of networks: name an empty or a new folder", out, e.Name())
		}
	}
	earlier, err := readMembers(out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(entries) > 0:
		return nil, fmt.Errorf("--out %q is neither empty nor a folder of networks (it has no %s): name another", out, fileMembers)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--out: %w", err)
	case err == nil && earlier.Settings != t.list.Settings:
		return nil, fmt.Errorf("--out %q holds networks of other settings or data: to keep them name another folder, or remove it", out)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, fmt.Errorf("--out %q: %w", out, durable.Reason(err))
	}
	for m := 1; m <= maxMembers; m++ {
		whole := true
		for _, name := range []string{fileNetwork, fileTraining} {
			_, err := os.Stat(filepath.Join(out, memberFolder(m), name))
			whole = whole && err == nil
		}
		if whole {
			t.list.Members = append(t.list.Members, memberFolder(m)+"/"+fileNetwork)
		} else if m <= t.flags.members {
			missing = append(missing, m)
		}
	}
	return missing, writeMembers(out, &t.list)
}

// trainAll trains the missing networks, several side by side: a step of a small network
// has work for one processor only.
func (t *memberTraining) trainAll(ctx context.Context, missing []int) error {
	workers := t.cfg.Training.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	side := max(1, min(workers, len(missing)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	numbers := make(chan int)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	var faults []error
	for range side {
		wait.Go(func() {
			for m := range numbers {
				own, err := t.train(ctx, m, max(1, workers/side))
				mutex.Lock()
				if err == nil {
					err = t.finished(m, own)
				}
				if err != nil {
					faults = append(faults, fmt.Errorf("network %d of %d: %w", m, t.flags.members, err))
					cancel()
				}
				mutex.Unlock()
			}
		})
	}
	for _, m := range missing {
		select {
		case numbers <- m:
		case <-ctx.Done():
		}
	}
	close(numbers)
	wait.Wait()
	if len(faults) > 0 {
		return faults[0]
	}
	return ctx.Err()
}

// train trains network m into its folder.
func (t *memberTraining) train(ctx context.Context, m, workers int) (*trained, error) {
	cfg, seed := t.cfg, t.flags.seed
	cfg.Training.Workers, cfg.Training.Progress = workers, nil
	cfg.Training.Seed = seed + uint64(m)
	cfg.Sampling.SplitSeed = notZero(seed)
	if t.flags.resample {
		cfg.Sampling.Resample = notZero(seed + uint64(m))
	}
	dir, err := durable.NewDir(t.s.unfinished(), durable.Files{fileTraining, fileNetwork}, filepath.Join(t.flags.out, memberFolder(m)))
	if err != nil {
		return nil, err
	}
	defer dir.Discard()
	model, fit, err := native.Train(ctx, cfg, t.src)
	if err != nil {
		return nil, err
	}
	own := &trained{Model: model, Fit: fit, online: cfg.Deep.Orthogonalize, offset: cfg.Offset}
	if err := own.write(ctx, dir.Path(fileNetwork), t.src); err != nil {
		return nil, err
	}
	if err := durable.WriteFile(dir.Path(fileTraining), func(f *os.File) error { return writeTraining(f, own) }); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return own, dir.Commit()
}

// notZero is a seed where 0 means none.
func notZero(seed uint64) uint64 {
	if seed == 0 {
		return 1 << 63
	}
	return seed
}

// finished lists network m, and tells of it.
func (t *memberTraining) finished(m int, own *trained) error {
	t.list.Members = append(t.list.Members, memberFolder(m)+"/"+fileNetwork)
	slices.Sort(t.list.Members)
	if err := writeMembers(t.flags.out, &t.list); err != nil {
		return err
	}
	t.log.note(fmt.Sprintf("network %d of %d: %s", m, t.flags.members, own.quality()))
	return nil
}
