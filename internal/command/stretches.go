package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/base/durable"
)

// checkpointMark ends the name of a part's checkpoint.
const checkpointMark = ".checkpoint"

// defaultCheckpoint is how long it takes from one checkpoint to the next.
const defaultCheckpoint = 30 * time.Second

// keeper keeps checkpoints of a pass in a file.
type keeper struct {
	u     *durable.Unfinished
	path  string
	every time.Duration // 0: never
}

// remove removes the checkpoint, if there is one.
func (k *keeper) remove() error {
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the checkpoint %q cannot be removed: %w", k.path, durable.Reason(err))
	}
	return nil
}

// held is the checkpoint of the stage and shard; nil: there is none. One that is damaged, or of
// another stage, is none.
func (k *keeper) held(at plan.Stage, shard int, kernels string) *plan.Part {
	if k.every == 0 {
		return nil
	}
	p, err := plan.ReadCheckpoint(k.path)
	if err != nil || p.Checkpoint == nil || p.Stage != at.Digest || p.Kernel != kernels || len(p.Shards) != 1 || p.Shards[0].Shard != shard {
		return nil
	}
	return p
}

// sum makes a pass over the rows of a shard, a stretch of chunks after the other, with a checkpoint after
// each but the last. Sums of chunks do not depend on how they are grouped, so neither do those of stretches.
func (w *planned) sum(ctx context.Context, keep *keeper, at plan.Stage, shard, chunk int, sum plan.Sum) (*plan.Part, plan.Payload, error) {
	all, err := w.plan.Range(shard, chunk)
	if err != nil {
		return nil, nil, err
	}
	var total plan.Payload
	rest := all
	w.rows.begin(nil)
	if p := keep.held(at, shard, w.flags.network.kernels()); p != nil && p.Checkpoint.Next > all.First && p.Checkpoint.Next < all.Next && (p.Checkpoint.Next-all.First)%int64(chunk) == 0 {
		if total, err = p.Value(); err != nil {
			return nil, nil, err
		}
		w.rows.begin(&p.Header)
		rest = from(all, p.Checkpoint.Next, chunk)
	}
	// Scanners can be asked once what they have seen, and rows that are brought are read in one go.
	once := keep.every == 0 || at.Pass == plan.Scan || w.brought
	chunks := int64(2 * w.request.Options.Goroutines(0))
	for {
		now := rest
		if !once {
			now.Next = min(rest.Next, rest.First+chunks*int64(chunk))
		}
		w.rows.rows = &now
		began := time.Now()
		value, err := sum(ctx, now)
		if err != nil {
			return nil, nil, err
		}
		if total == nil {
			total = value
		} else if err := plan.Add(total, value); err != nil {
			return nil, nil, err
		}
		if now.Next >= rest.Next {
			break
		}
		chunks = max(1, int64(float64(chunks)*min(4, float64(keep.every)/float64(time.Since(began)+1))))
		rest = from(all, now.Next, chunk)
		if err := w.checkpoint(keep, at, shard, rest.First, total); err != nil {
			return nil, nil, err
		}
	}
	part, err := plan.NewPart(w.header(at, shard), total)
	return part, total, err
}

// checkpoint keeps what the rows before next came to.
func (w *planned) checkpoint(keep *keeper, at plan.Stage, shard int, next int64, total plan.Payload) error {
	h := w.header(at, shard)
	h.Checkpoint = &plan.Checkpoint{Next: next}
	if d := w.rows.seen.digest; d != nil {
		h.Checkpoint.Digest = d.state
	}
	part, err := plan.NewPart(h, total)
	if err != nil {
		return err
	}
	return part.WriteFile(keep.u, keep.path)
}

// from is what of a range lies from row first on, which begins a chunk.
func from(all plan.Range, first int64, chunk int) plan.Range {
	return plan.Range{First: first, Next: all.Next, FirstChunk: all.FirstChunk + int((first-all.First)/int64(chunk))}
}
