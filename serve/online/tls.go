package online

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLS is a configuration of the certificate and key in two files of PEM. They are read again
// when one of them is replaced; what cannot be read leaves the old in its place.
func TLS(certificate, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificates{certificate: certificate, key: key, log: log}
	if err := c.read(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.current}, nil
}

type certificates struct {
	certificate, key string
	log              *slog.Logger

	mu     sync.Mutex
	now    *tls.Certificate
	marks  [2]os.FileInfo
	looked time.Time
}

func (c *certificates) look() (marks [2]os.FileInfo, err error) {
	if marks[0], err = os.Stat(c.certificate); err == nil {
		marks[1], err = os.Stat(c.key)
	}
	return marks, err
}

func (c *certificates) read() error {
	marks, err := c.look()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certificate, c.key)
	if err == nil {
		c.now = &pair
	}
	c.marks = marks // what cannot be read is not tried again until it is replaced
	return err
}

// current is the certificate; the files are looked at once a second at most.
func (c *certificates) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < time.Second {
		return c.now, nil
	}
	c.looked = time.Now()
	marks, err := c.look()
	if err != nil || unchanged(marks[0], c.marks[0]) && unchanged(marks[1], c.marks[1]) {
		return c.now, nil
	}
	if err := c.read(); err != nil {
		c.log.Error("the replaced certificate cannot be used, the old one stays", "error", err.Error())
	} else {
		c.log.Info("certificate replaced")
	}
	return c.now, nil
}
