package durable

import (
	"context"
	"os"
	"time"
)

// followBytes is how much a file that is being written grows before it is sent to the disk, and
// followEvery how often somebody looks.
const (
	followBytes = 16 << 20
	followEvery = 10 * time.Millisecond
)

// Follow sends a file to the disk while it is being written, until ctx is done or stop is called, so that
// Sync has little left to do at the end. It changes nothing but how long that takes.
func Follow(ctx context.Context, f *os.File) (stop func()) {
	return beside(ctx, f, send)
}

// sender is send.
type sender func(f *os.File, from, n int64) error

// beside is follow in a goroutine of its own.
func beside(ctx context.Context, f *os.File, send sender) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		follow(ctx, f, send)
	}()
	return func() {
		cancel()
		<-done
	}
}

func follow(ctx context.Context, f *os.File, send sender) {
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for sent := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		info, err := f.Stat()
		if err != nil {
			return
		}
		if size := info.Size(); size-sent >= followBytes {
			if send(f, sent, size-sent) != nil {
				return
			}
			sent = size
		}
	}
}
