package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"

	"gocloud.dev/gcerrors"
)

// fault is an error of an object as that of a file: *fs.PathError with the remedy in its cause.
func fault(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: reason(err)}
}

func notThere(err error) bool { return codeOf(err) == gcerrors.NotFound }

// said is an error with what the store said, free of secrets.
type said struct {
	text  string
	cause error
}

func (e *said) Error() string { return e.text }
func (e *said) Unwrap() error { return e.cause }

// reason explains a store's error and what to do.
func reason(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		for _, e := range []error{context.Canceled, context.DeadlineExceeded} {
			if errors.Is(err, e) {
				return e
			}
		}
	}
	switch codeOf(err) {
	case gcerrors.NotFound:
		return &said{"there is no such object or bucket (404): check bucket, name and region", fs.ErrNotExist}
	case gcerrors.PermissionDenied:
		return &said{"the store denies access (403): check that the credentials in the environment may do this; " + firstLine(err), fs.ErrPermission}
	case gcerrors.FailedPrecondition:
		return errChanged
	case gcerrors.DeadlineExceeded:
		return &said{"the store did not answer in time: try again; " + firstLine(err), nil}
	case gcerrors.ResourceExhausted:
		return &said{"the store refuses further requests for now, also after retries: try again later, or with fewer workers; " + firstLine(err), nil}
	}
	return &said{"the store cannot be used: " + firstLine(err), nil}
}

// codeOf is the library's code of an error; what it does not know, by the status of the answer.
func codeOf(err error) gcerrors.ErrorCode {
	code := gcerrors.Code(err)
	var answer interface{ HTTPStatusCode() int }
	if code != gcerrors.Unknown || !errors.As(err, &answer) {
		return code
	}
	switch answer.HTTPStatusCode() {
	case http.StatusNotFound:
		return gcerrors.NotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return gcerrors.PermissionDenied
	case http.StatusPreconditionFailed, http.StatusConflict:
		return gcerrors.FailedPrecondition
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return gcerrors.DeadlineExceeded
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return gcerrors.ResourceExhausted
	}
	return code
}

// errChanged is another version of an object than the one that was opened.
var errChanged = errors.New("the object is another than when it was opened: start again when it is complete")

// firstLine is what a library says, shortened and free of secrets.
func firstLine(err error) string {
	const most = 300
	text := clean(fmt.Sprint(err))
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// clean takes queries, users of URLs and the values of the environment's secrets out of a text.
func clean(text string) string {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= 4 && secret.MatchString(name) {
			text = strings.ReplaceAll(text, value, "[...]")
		}
	}
	text = user.ReplaceAllString(text, "$1")
	text = query.ReplaceAllString(text, "$1?[...]")
	return authorization.ReplaceAllString(text, "$1 [...]")
}

var (
	secret        = regexp.MustCompile(`(?i)(secret|token|password|passwd|credential|_key$|_key_id$|connection_string|sas)`)
	user          = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@]*@`)
	query         = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s?"']*)\?[^\s"']*`)
	authorization = regexp.MustCompile(`(?i)(authorization:?|bearer)\s+\S+`)
)
