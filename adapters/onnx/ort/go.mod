module github.com/pho-go/pho/adapters/onnx/ort

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	github.com/pho-go/pho v0.0.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/pho-go/pho => ../../..
