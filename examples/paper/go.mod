module github.com/pho-go/pho/examples/paper

go 1.26.0

require (
	github.com/pho-go/pho v0.0.0
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/pho-go/pho => ../..
