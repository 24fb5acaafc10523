package penalty

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
)

// countdown is a context that is done when it has been asked so many times.
type countdown struct {
	context.Context
	left atomic.Int64 // several goroutines ask
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func newCountdown(left int64) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(left)
	return c
}

// Wherever the context ends, so does the selection, with its error.
func TestCancelAnywhere(t *testing.T) {
	groups, _, _, _, _ := grouped(3, 300, 4, true, true)
	plain, _, _, _ := randomProblem(5, 200, true, true)
	overlapped := overlapProblem("te2", overlapping()["te2"])
	target := *plain
	target.Terms = append([]Component(nil), plain.Terms...)
	for i := range target.Terms {
		if len(target.Terms[i].S) > 0 {
			target.Terms[i].DF = 2.5
			break
		}
	}
	fits := map[string]func(ctx context.Context) (*Fit, error){
		"grouped": func(ctx context.Context) (*Fit, error) { return SelectGroupedContext(ctx, groups, nil) },
		"overlap": func(ctx context.Context) (*Fit, error) { return SelectContext(ctx, overlapped, nil) },
		"target":  func(ctx context.Context) (*Fit, error) { return SelectContext(ctx, &target, nil) },
	}
	for _, m := range []Criterion{REML, ML, GCV} {
		fits[m.String()] = func(ctx context.Context) (*Fit, error) { return SelectContext(ctx, plain, &Options{Criterion: m}) }
	}
	for name, fit := range fits {
		all := newCountdown(1 << 30)
		want, err := fit(all)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkFinite(t, want)
		asked := 1<<30 - all.left.Load()
		if asked < 20 {
			t.Errorf("%s: the context was looked at %d times", name, asked)
		}
		step := int64(7) // from any of the first seven on: every place has its turn; PHO_LONG=1 takes all
		if os.Getenv("PHO_LONG") != "" {
			step = 1
		}
		for k := rand.Int64N(step); k < asked; k += step {
			if f, err := fit(newCountdown(k)); !errors.Is(err, context.Canceled) || f != nil {
				t.Errorf("%s: cancelled at look %d of %d: %v, %v", name, k, asked, f, err)
			}
		}
		t.Logf("%s: %d places", name, asked)
	}
}
