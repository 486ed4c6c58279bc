package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hubcli/hub"
)

// DefaultBaseURL is the address of the local hub.
const DefaultBaseURL = "http://127.0.0.1:6969"

// Limits of the client, in one place.
const (
	// DefaultTimeout bounds one attempt of a call that does not wait.
	DefaultTimeout = 15 * time.Second
	// WaitMargin is added to the wait of a waiting call to get its timeout.
	WaitMargin = 5 * time.Second

	dialTimeout     = 5 * time.Second
	keepAlive       = 30 * time.Second
	maxRetryWait    = 5 * time.Second // the caller has to obey a longer Retry-After itself
	maxReadAttempts = 2
	maxSendAttempts = 3
	maxAnswerBytes  = 1 << 30
)

// Config names the hub that a Client speaks to and the agent it acts as.
type Config struct {
	// BaseURL is http or https, a host and perhaps a port and a path prefix;
	// empty is DefaultBaseURL. CheckBaseURL checks it beforehand.
	BaseURL string
	// Agent is sent with reads that name no viewer of their own. May be empty.
	Agent hub.AgentID
	// Session is the full id of Agent's session, as register returned it. It is
	// sent with every call when it is set.
	Session hub.SessionID
	// OperatorToken finds the secret for operator calls to the hub that Info
	// describes; nil is StoreToken. It is called only for a hub on this
	// machine.
	OperatorToken func(context.Context, hub.Info) (string, error)
	// Operator says that every call is made as the operator, not only those that
	// nobody else may make.
	Operator bool
	// Transport carries the requests; nil is a transport of the client's own
	// with kept-alive connections, no proxy and no compression.
	Transport http.RoundTripper
	// Timeout bounds one attempt of a call that does not wait; 0 is
	// DefaultTimeout. A waiting call gets its wait and WaitMargin.
	Timeout time.Duration
}

// Client is a hub behind an address.
type Client struct {
	cfg   Config
	base  *url.URL
	bad   error // why BaseURL is invalid; every call returns it
	local bool
	http  *http.Client
	owned *http.Transport // nil when the caller brought a transport
}

var (
	_ hub.Service = (*Client)(nil)
	_ hub.Status  = (*Client)(nil)
	_ hub.Control = (*Client)(nil)
)

// New returns a client. It sends nothing; the first call reports an invalid
// BaseURL.
func New(cfg Config) *Client {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.OperatorToken == nil {
		cfg.OperatorToken = StoreToken
	}
	c := &Client{cfg: cfg}
	host := ""
	if c.base, c.bad = parseBaseURL(cfg.BaseURL); c.base != nil {
		host = c.base.Hostname()
	}
	c.local = isLoopback(host) || cfg.Transport == nil && fromLoopback(host)
	if cfg.Transport == nil {
		c.owned = newTransport(host)
		c.cfg.Transport = c.owned
	}
	c.http = &http.Client{
		Transport:     c.cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// As returns a client of the same hub and connections that acts as agent with
// session, which may be empty: then the agent is asserted only.
func (c *Client) As(agent hub.AgentID, session hub.SessionID) *Client {
	other := *c
	other.cfg.Agent, other.cfg.Session = agent, session
	return &other
}

// AsOperator returns a client of the same hub and connections that makes every call
// as the operator.
func (c *Client) AsOperator() *Client {
	other := *c
	other.cfg.Agent, other.cfg.Session, other.cfg.Operator = "", "", true
	return &other
}

// BaseURL returns the address without a trailing slash.
func (c *Client) BaseURL() string {
	if c.base == nil {
		return c.cfg.BaseURL
	}
	return c.base.String()
}

// Local reports whether the hub treats the caller as local: the hub's address
// is loopback, or it is another address of this machine that the client calls
// from loopback.
func (c *Client) Local() bool { return c.local }

// Close drops idle connections; calls may still be made.
func (c *Client) Close() {
	if c.owned != nil {
		c.owned.CloseIdleConnections()
	}
}

// CheckBaseURL refuses an address that New could not use.
func CheckBaseURL(s string) error {
	_, err := parseBaseURL(s)
	return err
}

func parseBaseURL(s string) (*url.URL, error) {
	refuse := func(why string) (*url.URL, error) {
		return nil, hub.Invalid("base_url", "the base address "+why).
			WithFix("give it as http://<host>:<port>, for example " + DefaultBaseURL)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return refuse("cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("does not begin with http:// or https://")
	case u.Hostname() == "":
		return refuse("names no host")
	case u.User != nil:
		return refuse("carries a user name; the hub has none")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return refuse("carries a query or a fragment")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

func newTransport(host string) *http.Transport {
	return &http.Transport{
		// No proxy: a session id is a secret of this machine and the hub.
		Proxy:               nil,
		DialContext:         Dialer(host),
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: 16,
		// Shorter than the hub's own idle limit, so that the client closes
		// first and a request seldom meets a closing connection.
		IdleConnTimeout:    30 * time.Second,
		DisableCompression: true,
	}
}
