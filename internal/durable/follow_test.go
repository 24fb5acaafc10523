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
	follow(ctx, f) // else it would not return
	f.Close()
	follow(context.Background(), f)
	if err := send(f, 0, 1); err == nil {
		t.Error("a closed file was sent")
	}
}
