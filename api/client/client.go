package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// DefaultBaseURL is the address of the local hub, where the data root remembers no other port.
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
	// empty is the address that the data root remembers, or DefaultBaseURL. CheckBaseURL checks it beforehand.
	BaseURL string
	// Agent is sent with reads that name no viewer of their own. May be empty.
	Agent hub.AgentID
	// Session is the full id of Agent's session, as register returned it. It is
	// sent with every call when it is set.
	Session hub.SessionID
	// Operator says that every call is made as the operator, not only those that
	// nobody else may make.
	Operator bool
	// AgentsOnly refuses calls of the operator before they are sent: those for whom the client calls need not
	// be the operator, although this process could.
	AgentsOnly bool
	// DataRoot is the folder in which the hubs of this user are noted; empty is that of the
	// environment. A hub that is noted there has to prove itself, and operator calls go over
	// the socket that the note names.
	DataRoot string
	// Known is what the caller knows of the hub, whatever is noted; nil: nothing.
	Known *hubfile.Note
	// Transport carries the requests, but for those of operator calls; nil is a transport of
	// the client's own with kept-alive connections, no proxy and no compression. One that is
	// given has to have the hub prove itself: see Dialer.
	Transport http.RoundTripper
	// Connect bounds the connection, without the proof, of a transport of the client's own; 0 is
	// five seconds.
	Connect time.Duration
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
	root  string // the data root; empty: none
	http  *http.Client
	owned *http.Transport // nil when the caller brought a transport
	dial  *dialer         // of owned

	operator *http.Client // over the socket
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
		cfg.BaseURL = hubfile.BaseURL(rootOr(cfg.DataRoot))
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	c := &Client{cfg: cfg, root: rootOr(cfg.DataRoot)}
	host := ""
	if c.base, c.bad = parseBaseURL(cfg.BaseURL); c.base != nil {
		host = c.base.Hostname()
	}
	c.local = isLoopback(host) || cfg.Transport == nil && fromLoopback(host)
	if cfg.Transport == nil {
		c.dial = newDialer(host, c.root)
		c.dial.told = cfg.Known
		if cfg.Connect > 0 {
			c.dial.plain.Timeout = cfg.Connect
		}
		c.owned = newTransport(c.dial.dial)
		c.cfg.Transport = c.owned
	}
	c.http, c.operator = carriedBy(c.cfg.Transport), carriedBy(c.newOperatorTransport())
	return c
}

// carriedBy follows no redirect.
func carriedBy(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
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

// Proved reports whether the hub to which the client last connected has proved to be one of
// this user. It is false before the first call, and with a transport of the caller's.
func (c *Client) Proved() bool { return c.dial != nil && c.dial.proved.Load() }

// Close drops idle connections; calls may still be made.
func (c *Client) Close() {
	if c.owned != nil {
		c.owned.CloseIdleConnections()
		if conn := c.dial.takeSpare(); conn != nil {
			_ = conn.Close()
		}
	}
	c.operator.CloseIdleConnections()
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
	u.Host = strings.ToLower(u.Host) // names of hosts know no case
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

func newTransport(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		// No proxy: a session id is a secret of this machine and the hub.
		Proxy:               nil,
		DialContext:         dial,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: 16,
		// Shorter than the hub's own idle limit, so that the client closes
		// first and a request seldom meets a closing connection.
		IdleConnTimeout:    30 * time.Second,
		DisableCompression: true,
	}
}
