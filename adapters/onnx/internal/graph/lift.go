package graph

import (
	"errors"

	"github.com/pho-go/pho/internal/onnxpb"
)

func (c *checker) countsRows(n *Node) (bool, error) { return false, nil }

func (c *checker) loopOverRows(n *Node, g *onnxpb.GraphProto, scans int) error {
	return errors.New("TODO")
}

func (c *checker) scanRows(n *Node, g *onnxpb.GraphProto, s *scanNode, l *unrolled) error {
	return errors.New("mixes rows: it runs over the batch axis")
}

func (c *checker) scan8(n *Node) error { return errors.New("TODO") }
