package online_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve/online"
)

// A decomposition is served until the context ends.
func ExampleServer() {
	ctx, stop := context.WithCancel(context.Background())
	table := data.NewTable(500)
	for j := range 10 {
		x := make([]float64, table.Rows())
		for i := range x {
			x[i] = math.Sin(float64(i * (j + 3)))
		}
		if err := table.AddNumeric("x"+strconv.Itoa(j), x); err != nil {
			log.Fatal(err)
		}
	}
	d, err := pho.Decompose(ctx, "../../internal/command/demo/ssn.onnx", table, nil)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "served")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := d.Write(ctx, filepath.Join(dir, "price")); err != nil {
		log.Fatal(err)
	}

	models, err := online.Open([]string{filepath.Join(dir, "price")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- online.New(models, nil).Serve(ctx, l) }()
	request := `{"inputs": [{"name": "x", "datatype": "FP64", "shape": [1, 10], "data": [0, 0, 0, 0, 0, 0, 0, 0, 0]}]}`
	r, err := http.Post("http://"+l.Addr().String()+"/v2/models/price/infer", "application/json", strings.NewReader(request))
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r.StatusCode, " ", string(text))
	stop()
	fmt.Println(<-ended)
	// Output:
	// 400 {"error":"input \"x\": the data have 9 elements, shape [1 10] has 10"}
	// <nil>
}
