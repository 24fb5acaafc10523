// Release builds the archives of a release: the command for every platform, with
// the licences of all that is linked into it, and their checksums. Equal commits
// give equal bytes, whoever builds them, with the same version of Go.
//
//	go run ./release -root .. -out ../dist
//
// With -licences OS/PROCESSOR it prints the licences of that platform's command alone, for
// other kinds of packages.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// platforms are those that archives are built for.
func platforms() []platform {
	var all []platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			all = append(all, platform{system, processor})
		}
	}
	return all
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	root := flag.String("root", "..", "checkout to build, clean and no linked worktree")
	out := flag.String("out", "../dist", "directory of the archives, which is made")
	twice := flag.Bool("twice", false, "build once more in a clone elsewhere with an empty cache, and fail if a byte differs")
	of := flag.String("licences", "", "OS/PROCESSOR, as linux/amd64: print the licences of what is linked there, and build nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *of != "" {
		if err := printLicences(ctx, *root, *of); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(ctx, *root, *out, *twice); err != nil {
		log.Fatal(err)
	}
}

func printLicences(ctx context.Context, root, name string) error {
	system, processor, _ := strings.Cut(name, "/")
	p := platform{system, processor}
	if !slices.Contains(platforms(), p) {
		return fmt.Errorf("%q is no platform that is built for: %v", name, platforms())
	}
	text, err := licencesOf(ctx, root, p)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

func run(ctx context.Context, root, out string, twice bool) error {
	sums, err := release(ctx, root, out)
	if err != nil {
		return err
	}
	fmt.Print(sums)
	if !twice {
		return nil
	}
	dir, err := os.MkdirTemp("", "pho-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "elsewhere")
	if _, err := output(ctx, root, nil, "git", "clone", "-q", "--no-hardlinks", ".", clone); err != nil {
		return err
	}
	// With the cache of the first build nothing would be compiled.
	if err := os.Setenv("GOCACHE", filepath.Join(dir, "cache")); err != nil {
		return err
	}
	again, err := release(ctx, clone, filepath.Join(dir, "dist"))
	if err != nil {
		return err
	}
	if again != sums {
		return fmt.Errorf("a second build, in %s, gave other bytes:\n%s", clone, again)
	}
	fmt.Println("a second build in a clone elsewhere with an empty cache gave the same bytes")
	return nil
}
