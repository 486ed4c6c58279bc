package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"hubcli/hub"
)

// Bounds of one verification.
const (
	// timeLimit leaves the hub time to record the outcome within hub.VerifyWait.
	timeLimit   = hub.VerifyWait - 5*time.Second
	stepLimit   = 10 * time.Second // to connect, to agree on TLS, and to begin an answer
	maxBody     = 8 << 20          // bytes of all pages, unpacked
	maxPages    = 50
	maxHeader   = 64 << 10
	maxRefusal  = 16 << 10 // bytes of an answer that refuses, of which only words are looked for
	agentHeader = "hubcli"
)

// Client asks providers. The zero value is ready.
type Client struct {
	// Dial connects to a server; nil: over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are the trusted authorities; nil: the system's.
	Roots *x509.CertPool
	// Timeout bounds a verification; 0: as hub.VerifyWait allows.
	Timeout time.Duration
}

// Check asks a provider for its models and proves the key. A fault is an outcome, too.
// Errors: invalid, provider_not_found.
func (c *Client) Check(ctx context.Context, in hub.ProviderTarget, key hub.Secret) (hub.ConnectionCheck, []hub.ProviderModel, error) {
	if in.ProviderID != hub.ProviderCustom {
		in.Endpoint = ""
	}
	t, err := resolve(in, nil)
	if err != nil {
		return hub.ConnectionCheck{}, nil, err
	}
	limit := c.Timeout
	if limit == 0 {
		limit = timeLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := c.transport()
	defer transport.CloseIdleConnections()
	a := &asking{target: t, key: key, left: maxBody, client: &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	proof, models, bad := a.ask(ctx)
	if bad != nil {
		return hub.ConnectionCheck{Fault: bad.kind, Message: bad.message, Fix: bad.fix}, nil, nil
	}
	return hub.ConnectionCheck{OK: true, Key: proof}, models, nil
}

func (c *Client) transport() *http.Transport {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: stepLimit}).DialContext,
		TLSHandshakeTimeout: stepLimit, ResponseHeaderTimeout: stepLimit, MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
	}
	if c.Dial != nil {
		t.DialContext = c.Dial
	}
	return t
}

// asking is one verification.
type asking struct {
	*target
	key    hub.Secret
	client *http.Client
	left   int64 // bytes that answers may still have
}

// ask proves the key and reads the list.
func (a *asking) ask(ctx context.Context) (hub.KeyProof, []hub.ProviderModel, *fault) {
	if bad := a.mayAsk(); bad != nil {
		return "", nil, bad
	}
	proof := hub.KeyNone
	if !a.key.Empty() && a.keyTest != "" {
		if _, bad := a.get(ctx, a.keyTest, true); bad != nil {
			return "", nil, bad
		}
		proof = hub.KeyProved
	}
	if a.catalog == "" {
		models := make([]hub.ProviderModel, len(a.preset.Static))
		for i, id := range a.preset.Static {
			models[i].ModelID = id
		}
		return proof, models, nil
	}
	models, from, bad := a.list(ctx)
	if bad != nil {
		return "", nil, bad
	}
	if proof == hub.KeyNone && !a.key.Empty() {
		proof = a.control(ctx, from)
	}
	return proof, models, nil
}

// mayAsk refuses to ask without a key that is needed, and to send one in the clear.
func (a *asking) mayAsk() *fault {
	u, err := url.Parse(a.Endpoint)
	switch {
	case err != nil:
		return &fault{hub.FaultBadAnswer, "the endpoint is no URL", "change the endpoint of the connection"}
	case a.key.Empty() && !a.KeyOptional:
		return &fault{hub.FaultNoKey, "the connection has no key", "give it one"}
	case !a.key.Empty() && u.Scheme == "http" && !onThisMachine(hostOf(u.Host)):
		return &fault{
			hub.FaultTLS, "the key would go to " + u.Host + " in the clear, so it was not sent",
			"use an https endpoint, or a tunnel to a port of this machine",
		}
	}
	return nil
}

// control asks the same without the key. A server that answers everybody has not proved it.
func (a *asking) control(ctx context.Context, from string) hub.KeyProof {
	_, bad := a.get(ctx, from, false)
	if bad != nil && bad.kind == hub.FaultWrongKey {
		return hub.KeyProved
	}
	return hub.KeyNotProved
}

// list reads all pages, and returns the address of the first.
func (a *asking) list(ctx context.Context) ([]hub.ProviderModel, string, *fault) {
	first := a.catalog
	body, bad := a.get(ctx, first, !a.key.Empty())
	if bad != nil && bad.kind == hub.FaultWrongRegion && a.preset.ID == hub.ProviderCustom {
		first = a.Endpoint + "/v1/models"
		body, bad = a.get(ctx, first, !a.key.Empty())
	}
	if bad != nil {
		return nil, "", bad
	}
	var models []hub.ProviderModel
	seen := map[string]bool{}
	for pages := 1; ; pages++ {
		found, next, err := a.preset.Catalog.page(body)
		if err != nil {
			return nil, "", unreadable(a.host(first), err)
		}
		models = append(models, found...)
		if next == "" || pages == maxPages || len(models) >= hub.MaxProviderModels {
			return models[:min(len(models), hub.MaxProviderModels)], first, nil
		}
		if seen[next] {
			return nil, "", &fault{hub.FaultBadAnswer, a.host(first) + " repeats a page of its list without an end", "the provider may have changed its interface"}
		}
		seen[next] = true
		address, err := url.Parse(first)
		if err != nil {
			return nil, "", unreadable(a.host(first), err)
		}
		query := address.Query()
		query.Set(shapes()[a.preset.Catalog.Dialect].param, next)
		address.RawQuery = query.Encode()
		if body, bad = a.get(ctx, address.String(), !a.key.Empty()); bad != nil {
			return nil, "", bad
		}
	}
}

func (a *asking) host(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "the provider"
}

// errTooMuch is an answer beyond the bound.
var errTooMuch = errors.New("the answer is too large")

// get makes one request and returns the body of an answer of success.
func (a *asking) get(ctx context.Context, address string, withKey bool) ([]byte, *fault) {
	host := a.host(address)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &fault{hub.FaultBadAnswer, "the address of " + host + " is no URL", "change the endpoint of the connection"}
	}
	req.Header.Set("User-Agent", agentHeader)
	req.Header.Set("Accept", "application/json")
	for name, value := range a.headers {
		req.Header.Set(name, value)
	}
	if withKey {
		if a.preset.Auth == "bearer" {
			req.Header.Set("Authorization", "Bearer "+a.key.Reveal())
		} else {
			req.Header.Set(a.preset.Auth, a.key.Reveal())
		}
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return nil, a.noConnection(ctx, host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal)) // as much as there is
		return nil, a.refused(answer, body)
	}
	body, err := a.read(answer.Body)
	switch {
	case errors.Is(err, errTooMuch):
		return nil, &fault{hub.FaultBadAnswer, fmt.Sprintf("%s answers more than %d MiB", host, maxBody>>20), "check the endpoint"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, unreadable(host, err)
	case err != nil:
		return nil, a.noConnection(ctx, host, err)
	case isPage(answer, body):
		return nil, portal(host, "with a page for people")
	}
	return body, nil
}

func (a *asking) read(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, a.left+1))
	if err != nil {
		return nil, err
	}
	if a.left -= int64(len(body)); a.left < 0 {
		return nil, errTooMuch
	}
	return body, nil
}
