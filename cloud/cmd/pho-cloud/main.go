// Command pho-cloud is pho for files in object stores, too: s3://, gs:// and azblob:// URLs
// in the place of paths.
package main

import (
	"github.com/pho-go/pho/cloud"
	"github.com/pho-go/pho/internal/app/store"
	"github.com/pho-go/pho/internal/command"
)

func main() { command.MainWith(cloud.New(store.Disk{}, nil)) }
