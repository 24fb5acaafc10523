module github.com/pho-go/pho/benchmarks

go 1.26.0

require (
	github.com/pho-go/pho v0.0.0
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/andybalholm/brotli v1.2.8 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/pho-go/pho => ../
