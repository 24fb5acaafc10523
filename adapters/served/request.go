package served

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/data"
)

// mostBytes bounds an answer.
const mostBytes = 256 << 20

// longestPause is how long a server may ask to wait before the next attempt.
const longestPause = time.Minute

// tooManyError is a request of more rows than the server takes, or answers in time.
type tooManyError struct{ error }

func (e *tooManyError) Unwrap() error { return e.error }

// ask is the model's answer for the rows of b.
func (s *Server) ask(ctx context.Context, f *Form, b *data.Batch) ([]tensor, error) {
	var body []byte
	var err error
	path := "/infer"
	if s.protocol == MLflow {
		path = ""
		body, err = appendFrame(nil, f, b)
	} else {
		body, err = appendTensors(nil, f, b)
	}
	if err != nil {
		return nil, s.fault("%w", err)
	}
	raw, err := s.repeated(ctx, http.MethodPost, s.address+path, body, b.Rows())
	if err != nil {
		return nil, err
	}
	parse := parseTensors
	if s.protocol == MLflow {
		parse = parseFrame
	}
	answer, err := parse(raw, b.Rows())
	if err != nil {
		return nil, s.fault("its answer to the data rows %d to %d cannot be read: %w", b.Row(0)+1, b.Row(b.Rows()-1)+1, err)
	}
	return answer, nil
}

// repeated sends a request of so many rows until it is answered, as often as the options allow.
func (s *Server) repeated(ctx context.Context, method, address string, body []byte, rows int) ([]byte, error) {
	began, pause := time.Now(), s.options.Pause
	for attempt := 1; ; attempt++ {
		raw, wait, err := s.once(ctx, method, address, body)
		var many *tooManyError
		switch {
		case err == nil:
			return raw, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case rows > 1 && errors.As(err, &many):
			return nil, err
		case wait < 0:
			return nil, err
		case attempt == s.options.Attempts:
			return nil, fmt.Errorf("%w; it was asked %d times in %s: see that the server runs, and do the same again", err, attempt, time.Since(began).Round(time.Second/10))
		}
		if wait == 0 {
			wait, pause = pause, 2*pause
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(wait, longestPause)):
		}
	}
}

// once sends a request. With an error: how long to wait before the next attempt; 0: as one likes; negative: there is no use.
func (s *Server) once(ctx context.Context, method, address string, body []byte) (raw []byte, wait time.Duration, err error) {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(limited, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, -1, s.fault("%w", err)
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	q.Header.Set("Accept", "application/json")
	if s.options.Token != "" {
		q.Header.Set("Authorization", "Bearer "+s.options.Token)
	}
	answer, err := s.client.Do(q)
	if err == nil {
		defer answer.Body.Close()
		raw, err = io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	}
	if err != nil {
		wait, err = s.unreached(limited, err)
		return nil, wait, err
	}
	if len(raw) > mostBytes {
		return nil, -1, &tooManyError{s.fault("its answer has more than %d bytes", mostBytes)}
	}
	if answer.StatusCode == http.StatusOK {
		return raw, 0, nil
	}
	return nil, pauseOf(answer), s.refused(answer, raw)
}

// unreached is a request that was not answered. wait is as once has it.
func (s *Server) unreached(ctx context.Context, err error) (wait time.Duration, _ error) {
	var elsewhere *redirect
	var certificate *tls.CertificateVerificationError
	var network *net.OpError
	switch {
	case errors.As(err, &elsewhere):
		return -1, s.fault("%w", elsewhere)
	case errors.As(err, &certificate):
		return -1, s.fault("its certificate is not trusted here: %w; name the authority's certificates in the environment variable %s", certificate.Err, CAVariable)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return 0, &tooManyError{s.fault("it did not answer within %s; the environment variable %s sets another time", s.options.Timeout, TimeoutVariable)}
	case errors.As(err, &network):
		return 0, s.fault("it cannot be reached: %w", network)
	}
	if sent := (*url.Error)(nil); errors.As(err, &sent) {
		err = sent.Err
	}
	return 0, s.fault("it broke off: %w", err)
}

// pauseOf is how long to wait after an answer that is no success; negative: it is final.
func pauseOf(answer *http.Response) time.Duration {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
	default:
		return -1
	}
	after := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if when, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(when))
	}
	return 0
}

// refused is an answer that is no success.
func (s *Server) refused(answer *http.Response, raw []byte) error {
	status := answer.StatusCode
	text := fmt.Sprintf("the server answers with status %d", status)
	if said := reason(raw); said != "" {
		text += fmt.Sprintf(" and says %q", said)
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += fmt.Sprintf(": it wants a token; set the environment variable %s", TokenVariable)
	case http.StatusNotFound:
		text += ": it has no such model; check the name in the address"
	}
	err := error(&Error{s.address, status, errors.New(text)})
	if status == http.StatusRequestEntityTooLarge {
		return &tooManyError{err}
	}
	return err
}

// reason is what an answer says of itself: the protocol's error, MLflow's message, or its text; of a long one how it
// begins and ends.
func reason(raw []byte) string {
	text := strings.Join(strings.Fields(said(raw)), " ")
	if runes := []rune(text); len(runes) > 500 {
		text = string(runes[:200]) + " ... " + string(runes[len(runes)-300:])
	}
	return text
}

func said(raw []byte) string {
	var said struct{ Error, Message, Detail any }
	if json.Unmarshal(raw, &said) == nil {
		for _, v := range []any{said.Error, said.Message, said.Detail} {
			if text, ok := v.(string); ok && text != "" {
				return text
			}
		}
	}
	return string(raw)
}
