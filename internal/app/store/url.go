package store

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"github.com/pho-go/pho/data"
)

// CheckURL refuses a URL that holds credentials, or may: a user's name or password, and
// anything in its query but what says where objects are (Settings). The error does not repeat
// them. Names that are no URLs pass.
func CheckURL(name string) error {
	if !data.IsURL(name) {
		return nil
	}
	u, err := url.Parse(name)
	if err != nil {
		return fmt.Errorf("a URL that begins with %q is malformed", beginning(name))
	}
	if u.User != nil {
		return fmt.Errorf("%q holds a name or password, which everybody on the machine can see: the credentials of object stores come from the environment (docs/objects.md)", Shown(name))
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fmt.Errorf("the query of %q is malformed", Shown(name))
	}
	for key, values := range query {
		if !slices.Contains(settings(), key) {
			return fmt.Errorf("%q has in its query what is no setting of a store, and may be a secret: leave it out; credentials come from the environment (docs/objects.md)", Shown(name))
		}
		for _, v := range values {
			if err := CheckURL(v); err != nil {
				return fmt.Errorf("%q: its setting %s: %w", Shown(name), key, err)
			}
		}
	}
	return nil
}

// settings are what the query of a URL may hold: where a store is, and how it is spoken to.
func settings() []string {
	return []string{
		"region", "endpoint", "hostname_immutable", "use_path_style", "s3ForcePathStyle", "disable_https", "accelerate", "dualstack", "fips",
		"profile", "role", "anonymous", "rate_limiter_capacity", "request_checksum_calculation", "response_checksum_validation",
		"storage_account", "domain", "protocol", "cdn", "localemu", "universe_domain", "grpc",
	}
}

// Shown is a URL without what CheckURL refuses.
func Shown(name string) string {
	u, err := url.Parse(name)
	if err != nil {
		return beginning(name)
	}
	u.User = nil
	query := u.Query()
	for key, values := range query {
		for i, v := range values {
			if data.IsURL(v) {
				values[i] = Shown(v) // an endpoint
			}
		}
		if !slices.Contains(settings(), key) {
			query.Del(key)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// beginning is the scheme of what is no URL.
func beginning(name string) string {
	return regexp.MustCompile(`^[A-Za-z0-9+.-]*(://)?`).FindString(name)
}

// URLs are those in a text, as an argument of a command.
func URLs(text string) []string {
	return regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s]*`).FindAllString(text, -1)
}
