package served

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"
)

// The environment variables that FromEnvironment reads.
const (
	TokenVariable   = "PHO_MODEL_TOKEN"   // the token
	CAVariable      = "PHO_MODEL_CA"      // a file of certificates (PEM) of authorities that are trusted besides the system's
	TimeoutVariable = "PHO_MODEL_TIMEOUT" // how long one request may take, as 90s
)

// FromEnvironment are the options that the environment names, which a result does not hold. Errors: a file that
// holds no certificates, a time that is none.
func FromEnvironment() (*Options, error) {
	o := &Options{Token: os.Getenv(TokenVariable)}
	if text := os.Getenv(TimeoutVariable); text != "" {
		var err error
		if o.Timeout, err = time.ParseDuration(text); err != nil || o.Timeout <= 0 {
			return nil, fmt.Errorf("the environment variable %s is %q: it is a time, as 90s or 5m", TimeoutVariable, text)
		}
	}
	path := os.Getenv(CAVariable)
	if path == "" {
		return o, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", CAVariable, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the environment variable %s: %q holds no certificates in PEM", CAVariable, path)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	o.Transport = transport
	return o, nil
}
