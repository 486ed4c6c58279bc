package keygen

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MaxKey bounds a license key, in bytes.
const MaxKey = 4096

// CheckKey refuses what cannot be a license key: it would not fit into a header.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fail(BadKey, "the license key is empty")
	case len(key) > MaxKey:
		return fail(BadKey, "the license key is longer than %d bytes", MaxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fail(BadKey, "the license key has blanks or characters that no key has")
	}
	return nil
}

// Validation is what the server says of a key.
type Validation struct {
	Valid     bool
	Code      string
	LicenseID string     // empty if the server knows no such key
	Expires   *time.Time // of the license; nil: never, or unknown
}

type identifier struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type related struct {
	Data identifier `json:"data"`
}

// resource is a JSON:API resource; only the members that are used.
type resource struct {
	identifier
	Attributes struct {
		Key         string     `json:"key"`
		Expiry      *time.Time `json:"expiry"`
		Fingerprint string     `json:"fingerprint"`
		Certificate string     `json:"certificate"`
	} `json:"attributes"`
	Relationships map[string]json.RawMessage `json:"relationships"`
}

// relation returns the id of a related resource, or "".
func (r *resource) relation(name string) string {
	var to related
	if json.Unmarshal(r.Relationships[name], &to) != nil {
		return ""
	}
	return to.Data.ID
}

type scope struct {
	Fingerprint string `json:"fingerprint"`
	Product     string `json:"product"`
}

// Validate asks whether a key holds on a machine.
func (c *Client) Validate(ctx context.Context, key, fingerprint string) (Validation, error) {
	if err := CheckKey(key); err != nil {
		return Validation{}, err
	}
	type meta struct {
		Key   string `json:"key"`
		Scope scope  `json:"scope"`
	}
	asked := scope{Fingerprint: fingerprint, Product: c.server.Product}
	body, err := c.do(ctx, call{
		method: http.MethodPost, url: c.server.url(nil, "licenses", "actions", "validate-key"), want: http.StatusOK,
		body: map[string]any{"meta": meta{Key: key, Scope: asked}},
	})
	if err != nil {
		return Validation{}, err
	}
	var doc struct {
		Data *resource `json:"data"`
		Meta struct {
			Valid bool   `json:"valid"`
			Code  string `json:"code"`
			Scope *scope `json:"scope"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || doc.Meta.Code == "" {
		return Validation{}, unreadable()
	}
	out := Validation{Valid: doc.Meta.Valid, Code: plainCode(doc.Meta.Code)}
	switch {
	case out.Valid != (out.Code == CodeValid):
		return Validation{}, fail(NotGenuine, "the answer contradicts itself")
	case doc.Meta.Scope != nil && *doc.Meta.Scope != asked:
		return Validation{}, fail(NotGenuine, "the answer is about another machine or product")
	case doc.Data == nil && out.Valid:
		return Validation{}, fail(NotGenuine, "the answer names no license")
	case doc.Data == nil:
		return out, nil
	case doc.Data.Type != "licenses" || doc.Data.ID == "":
		return Validation{}, unreadable()
	case doc.Data.Attributes.Key != key:
		return Validation{}, fail(NotGenuine, "the answer is about another key")
	}
	out.LicenseID, out.Expires = doc.Data.ID, doc.Data.Attributes.Expiry
	return out, nil
}

// AddMachine takes one of the license's places for a machine and returns the id of the machine.
// The platform is all that the server learns beside the fingerprint.
func (c *Client) AddMachine(ctx context.Context, key, license, fingerprint, platform string) (string, error) {
	type data struct {
		Type          string             `json:"type"`
		Attributes    map[string]any     `json:"attributes"`
		Relationships map[string]related `json:"relationships"`
	}
	body, err := c.do(ctx, call{
		method: http.MethodPost, url: c.server.url(nil, "machines"), key: key, want: http.StatusCreated,
		body: map[string]any{"data": data{
			Type: "machines", Attributes: map[string]any{"fingerprint": fingerprint, "platform": platform},
			Relationships: map[string]related{"license": {Data: identifier{Type: "licenses", ID: license}}},
		}},
	})
	if err != nil {
		return "", err
	}
	return machineOf(body, license, fingerprint)
}

// Machine finds the machine of a fingerprint and returns its id.
func (c *Client) Machine(ctx context.Context, key, license, fingerprint string) (string, error) {
	body, err := c.do(ctx, call{method: http.MethodGet, url: c.server.url(nil, "machines", fingerprint), key: key, want: http.StatusOK})
	if err != nil {
		return "", err
	}
	return machineOf(body, license, fingerprint)
}

// machineOf reads an answer that must be about one machine of one license.
func machineOf(body []byte, license, fingerprint string) (string, error) {
	var doc struct {
		Data resource `json:"data"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || doc.Data.Type != "machines" || doc.Data.ID == "" {
		return "", unreadable()
	}
	if doc.Data.Attributes.Fingerprint != fingerprint || doc.Data.relation("license") != license {
		return "", fail(NotGenuine, "the answer is about another machine or license")
	}
	return doc.Data.ID, nil
}

// CheckOut gets a machine file that is good for a time. The caller verifies it.
func (c *Client) CheckOut(ctx context.Context, key, machine string, ttl time.Duration) (string, error) {
	query := url.Values{
		"algorithm": {AlgorithmEncrypted}, "encrypt": {"true"}, "include": {"license"},
		"ttl": {strconv.FormatInt(int64(ttl/time.Second), 10)},
	}
	body, err := c.do(ctx, call{method: http.MethodPost, url: c.server.url(query, "machines", machine, "actions", "check-out"), key: key, want: http.StatusOK})
	if err != nil {
		return "", err
	}
	var doc struct {
		Data resource `json:"data"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || doc.Data.Type != "machine-files" || doc.Data.Attributes.Certificate == "" {
		return "", unreadable()
	}
	return doc.Data.Attributes.Certificate, nil
}

// RemoveMachine gives the place of a machine, named by its id or its fingerprint, back. A
// machine that is gone already is no error.
func (c *Client) RemoveMachine(ctx context.Context, key, machine string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, url: c.server.url(nil, "machines", machine), key: key, want: http.StatusNoContent})
	if e, ok := err.(*Error); ok && e.Kind == Refused && e.Status == http.StatusNotFound { //nolint:errorlint // do made it
		return nil
	}
	return err
}

func unreadable() *Error { return fail(Broken, "its answer is none of the protocol") }
