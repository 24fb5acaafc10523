package durable

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFollow: a file that is sent to the disk while it grows is whole at the end, and nobody follows it
// any more when stop has returned, when the run is over or when the file is closed.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	piece := bytes.Repeat([]byte("0123456789abcdef"), followBytes/16)
	err := WriteFile(path, func(f *os.File) error {
		for range 3 {
			if _, err := f.Write(piece); err != nil {
				return err
			}
			time.Sleep(3 * followEvery)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, bytes.Repeat(piece, 3)) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	follow(ctx, f, send) // else it would not return
	f.Close()
	follow(context.Background(), f, send)
	if err := send(f, 0, 1); err == nil {
		t.Error("a closed file was sent")
	}
}

// TestFollowSends: what a file has grown by is sent while it is being written, every byte once and
// none before there are enough.
func TestFollowSends(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type piece struct{ from, n int64 }
	sent := make(chan piece, 9)
	stop := beside(context.Background(), f, func(_ *os.File, from, n int64) error {
		sent <- piece{from, n}
		return nil
	})
	for _, p := range []piece{{0, followBytes}, {followBytes, 3 * followBytes}, {4 * followBytes, followBytes + 1}} {
		if err := f.Truncate(p.from + followBytes - 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * followEvery)
		if err := f.Truncate(p.from + p.n); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-sent:
			if got != p {
				t.Fatalf("%+v was sent, want %+v", got, p)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%+v was not sent", p)
		}
	}
	stop()
	if err := f.Truncate(9 * followBytes); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * followEvery)
	if len(sent) > 0 {
		t.Errorf("%+v was sent after the end", <-sent)
	}
}
