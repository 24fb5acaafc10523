module github.com/pho-go/pho/benchmarks

go 1.26.0

require (
	github.com/klauspost/compress v1.20.3
	github.com/pho-go/pho v0.0.0
	github.com/pierrec/lz4/v4 v4.1.33
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/molecule-man/go-brrr v1.3.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/pho-go/pho => ../
