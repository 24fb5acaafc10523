package store_test

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/store"
)

// A URL with what is, or may be, a secret is refused, and the message does not repeat it.
func TestCheckURL(t *testing.T) {
	for _, good := range []string{"a.csv", "dir/x@y.csv", "s3://bucket/a b.csv", "gs://b/x", "s3://b/x?region=eu&endpoint=http://127.0.0.1:9000&use_path_style=true", "file:///tmp/x", `C:\x`} {
		if err := store.CheckURL(good); err != nil {
			t.Error(good, err)
		}
	}
	for _, bad := range []string{
		"s3://me:SECRET@b/x", "s3://SECRET@b/x", "azblob://b/x?sig=SECRET", "s3://b/x?X-Amz-Signature=SECRET&region=eu", "s3://b/x?endpoint=http://me:SECRET@h/",
		"s3://b/x?endpoint=http%3A%2F%2Fme%3ASECRET%40h", "s3://b/x?region=%zzSECRET", "s3://b\x01/SECRET", "https://h/x?token=SECRET", "s3://b/x?endpoint=http://h/%3Ftoken=SECRET",
	} {
		err := store.CheckURL(bad)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if got := store.URLs("--input=x=@s3://b/x.npy y gs://c"); strings.Join(got, " ") != "s3://b/x.npy gs://c" {
		t.Error(got)
	}
}

func TestJoin(t *testing.T) {
	for want, got := range map[string]string{
		"s3://b/d/x?region=eu": store.Join("s3://b/d/?region=eu", "x"),
		"s3://b/d/x":           store.Join("s3://b/d", "x"),
		"d/x":                  store.Join("d", "x"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
