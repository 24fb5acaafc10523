package native

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/durable"
)

// checkpoint is all that training needs to go on as if it had not stopped.
type checkpoint struct {
	Fingerprint string // of configuration and data
	Steps       int
	Since, Best int
	BestLoss    float64
	Lowest      float64 // of the epochs from 1
	Epochs      []Epoch
	// Values of all parameters, now and at the best epoch, and the optimiser's
	// moments of the trained ones.
	Values, BestValues, First, Second [][]float64
}

// checkpointFormat begins the file; the SHA-256 of all that follows comes next, so
// that a damaged file is not taken for a state of training.
const checkpointFormat = "pho.checkpoint/3\n"

// fingerprint changes with everything that changes the course of training: not
// with the number of workers or, unless the learning rate depends on it, of
// epochs.
func fingerprint(j *job) string {
	c := *j.cfg
	t := c.Training
	if t.Schedule != Cosine {
		t.Epochs = 0
	}
	t.Validation, t.Progress, t.Checkpoint, t.CheckpointEvery, t.Resume, t.Workers, t.Patience = nil, nil, "", 0, false, 0, 0
	h := sha256.New()
	// All that is left are plain values; maps are printed in order of their keys.
	fmt.Fprintf(h, "%s %s %s %s %T%+v %+v %+v %+v %+v", c.Architecture, c.Response, c.Weights, c.Offset, c.Family, c.Family, c.Structured, c.Deep, c.FeatureNetworks, t)
	if c.Sampling != (Sampling{}) { // the targets are not all that it changes
		fmt.Fprintf(h, "%+v", c.Sampling)
	}
	for _, t := range []*likelihood.Target{j.trainTarget, j.validTarget} {
		if t == nil {
			continue
		}
		for _, v := range [][]float64{t.Y, t.W, t.Offset, t.Event} {
			sum := make([]byte, 0, 8*len(v))
			for _, x := range v {
				sum = binary.LittleEndian.AppendUint64(sum, math.Float64bits(x))
			}
			h.Write(sum)
		}
	}
	for _, p := range j.plans {
		fmt.Fprint(h, p.Columns, p.Factors, p.Mean, p.SD)
	}
	for _, s := range j.parts {
		s.Fingerprint(h)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// save replaces the file whole.
func (t *trainer[T]) save(path string) error {
	c := checkpoint{
		Fingerprint: t.fingerprint, Steps: t.opt.Steps, Since: t.since, Best: t.fit.Best,
		BestLoss: t.bestLoss, Lowest: t.lowest, Epochs: t.fit.Epochs, First: widen(t.opt.First), Second: widen(t.opt.Second), BestValues: widen(t.best),
	}
	for _, p := range t.params {
		c.Values = append(c.Values, nn.Float64s(p.Value))
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(&c); err != nil {
		return fmt.Errorf("native: checkpoint %q: %w", path, err)
	}
	sum := sha256.Sum256(body.Bytes())
	err := durable.WriteFile(path, func(f *os.File) error {
		_, err := f.Write(slices.Concat([]byte(checkpointFormat), sum[:], body.Bytes()))
		return err
	})
	if err != nil {
		return fmt.Errorf("native: checkpoint: %w", err)
	}
	return nil
}

func widen[T float32 | float64](v [][]T) [][]float64 {
	var w [][]float64
	for _, x := range v {
		w = append(w, nn.Float64s(x))
	}
	return w
}

// resume goes on from the file; without one training starts at the beginning.
func (t *trainer[T]) resume(path string) error {
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("native: checkpoint %q: %w", path, err)
	}
	body, ok := bytes.CutPrefix(file, []byte(checkpointFormat))
	if !ok {
		return fmt.Errorf("native: checkpoint %q cannot be read: it does not begin with %q: remove it, or name another file", path, checkpointFormat)
	}
	if len(body) < sha256.Size || sha256.Sum256(body[sha256.Size:]) != [sha256.Size]byte(body) {
		return fmt.Errorf("native: checkpoint %q cannot be read: it is damaged: remove it, and training begins anew", path)
	}
	var c checkpoint
	if err := gob.NewDecoder(bytes.NewReader(body[sha256.Size:])).Decode(&c); err != nil {
		return fmt.Errorf("native: checkpoint %q cannot be read: %w", path, err)
	}
	if c.Fingerprint != t.fingerprint {
		return fmt.Errorf("native: checkpoint %q is of another configuration or other data: remove it, or train without Resume", path)
	}
	if len(c.Values) != len(t.params) || len(c.First) != len(t.opt.First) || len(c.Second) != len(t.opt.Second) {
		return fmt.Errorf("native: checkpoint %q has %d parameters, the network %d", path, len(c.Values), len(t.params))
	}
	for i, p := range t.params {
		if len(c.Values[i]) != len(p.Value) {
			return fmt.Errorf("native: checkpoint %q: parameter %q has %d values, the network %d", path, p.Name, len(c.Values[i]), len(p.Value))
		}
		narrow(p.Value, c.Values[i])
		p.Version++
	}
	for i := range c.First {
		narrow(t.opt.First[i], c.First[i])
		narrow(t.opt.Second[i], c.Second[i])
	}
	t.best = nil
	for _, v := range c.BestValues {
		t.best = append(t.best, nn.Rounded[T](v))
	}
	t.opt.Steps, t.since, t.fit.Best, t.bestLoss, t.lowest, t.fit.Epochs = c.Steps, c.Since, c.Best, c.BestLoss, c.Lowest, c.Epochs
	return nil
}

func narrow[T float32 | float64](dst []T, src []float64) {
	for i := range min(len(dst), len(src)) {
		dst[i] = T(src[i])
	}
}
