package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/mcp/session"
)

// EndpointConfig is what an Endpoint needs. Version and BaseURL are required.
type EndpointConfig struct {
	Version  string
	BaseURL  string       // of the hub, as this process reaches it
	DataRoot string       // the folder of the user's data
	Log      *slog.Logger // nil drops remarks
}

// Endpoint serves the tools to clients that start no process: MCP over HTTP, without sessions. Each request
// says which agent it is of and stands alone; what lasts is with the hub, of which the endpoint is a client
// like a bridge. It does not ask whose the request is: httpapi does, before it hands a request on.
type Endpoint struct {
	config EndpointConfig
	hub    *client.Client
	made   sync.Once    // with the first request: most hubs get none
	plain  http.Handler // answers with one message of JSON
	stream http.Handler // answers with events, for progress
}

type bridgeKey struct{}

// deliveredWait bounds how long the end of an answer waits for the hub to hear of it.
const deliveredWait = 5 * time.Second

// NewEndpoint makes an endpoint. The hub need not run yet.
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Endpoint{config: cfg, hub: client.New(client.Config{BaseURL: cfg.BaseURL, DataRoot: cfg.DataRoot, AgentsOnly: true})}
}

// begin makes the server of the protocol.
func (e *Endpoint) begin() {
	quiet := slog.New(slog.DiscardHandler) // the SDK would write lines for each request, and for each mistake of a client
	server := newServer(e.config.Version, quiet, func(ctx context.Context) *bridge { return ctx.Value(bridgeKey{}).(*bridge) })
	of := func(*http.Request) *sdk.Server { return server }
	options := sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, Logger: quiet, MaxRequestBodyBytes: api.MCPBodyCap,
		DisableLocalhostProtection: true, // httpapi has compared the Host already, more strictly
	}
	e.plain = sdk.NewStreamableHTTPHandler(of, &options)
	options.JSONResponse = false
	e.stream = sdk.NewStreamableHTTPHandler(of, &options)
}

// Close drops the connections to the hub.
func (e *Endpoint) Close() { e.hub.Close() }

// ServeHTTP answers one request, whose body has been read already.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.made.Do(e.begin)
	out := &rpcWriter{ResponseWriter: w}
	guest, err := e.guest(r)
	if err != nil {
		out.refuse(err.Status, jsonrpc.CodeInvalidRequest, err.Message+"; "+err.Fix)
		return
	}
	body, status, code, message := readMessage(r)
	if message != "" {
		out.refuse(status, code, message)
		return
	}
	b := &bridge{Config: Config{Version: e.config.Version}, log: e.config.Log, link: session.NewGuest(guest, e.config.Log), request: r.Context()}
	b.Now = time.Now
	r = r.WithContext(context.WithValue(r.Context(), bridgeKey{}, b))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if wantsStream(r, body) {
		e.stream.ServeHTTP(out, r)
	} else {
		e.plain.ServeHTTP(out, r)
	}
	out.finish()
	if out.failed || r.Context().Err() != nil || http.NewResponseController(w).Flush() != nil {
		return // what was read comes again
	}
	ctx, cancel := context.WithTimeout(r.Context(), deliveredWait)
	defer cancel()
	b.link.Delivered(ctx)
}

// guest says for whom a request acts: the agent and the folder in the address, or in the headers.
func (e *Endpoint) guest(r *http.Request) (session.Guest, *hub.Error) {
	g := session.Guest{Hub: e.hub, DataRoot: e.config.DataRoot}
	q, err := api.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return g, asError(err)
	}
	agent := q.Text("agent")
	g.Folder = q.Text("folder")
	if err := q.Err(); err != nil {
		return g, asError(err).WithFix("the address takes agent and folder, each once")
	}
	if named := r.Header.Values(api.HeaderAgent); len(named) > 1 || len(named) == 1 && agent != "" && named[0] != agent {
		return g, hub.Invalid(api.HeaderAgent, "the request names two agents").WithFix("name one, in the address or in " + api.HeaderAgent)
	} else if len(named) == 1 {
		agent = named[0]
	}
	if agent != "" {
		if err := hub.CheckSender("agent", hub.AgentID(agent)); err != nil {
			return g, asError(err)
		}
	}
	if g.Agent = hub.AgentID(agent); len(r.Header.Values(api.HeaderSession)) > 1 {
		return g, hub.Invalid(api.HeaderSession, "the request proves two sessions").WithFix("send one " + api.HeaderSession)
	}
	g.Session = hub.SessionID(r.Header.Get(api.HeaderSession))
	return g, nil
}

// readMessage reads the body and refuses what is no message, in words. The rest of the
// protocol's rules are the SDK's. A client that does not say what it accepts, or only one of
// the two forms, gets an answer in a form that it takes.
func readMessage(r *http.Request) (body []byte, status int, code int64, message string) {
	if r.Method != http.MethodPost {
		return nil, 0, 0, ""
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != api.ContentType {
		return nil, http.StatusUnsupportedMediaType, jsonrpc.CodeInvalidRequest, "the Content-Type of a message is application/json"
	}
	if !accepts(r, "application/json") && !accepts(r, "text/event-stream") {
		return nil, http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest, "the Accept header allows neither application/json nor text/event-stream"
	}
	known := sdk.SupportedProtocolVersions()
	if version := r.Header.Get("MCP-Protocol-Version"); version != "" && !slices.Contains(known, version) && version < slices.Max(known) {
		return nil, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the version %.40q of MCP is not known; known are %s", version, strings.Join(known, ", "))
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return nil, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body did not come whole"
	case !json.Valid(body):
		return nil, http.StatusBadRequest, jsonrpc.CodeParseError, "the body is no JSON"
	}
	return body, 0, 0, ""
}

// accepts reports whether the client takes a media type. One that says nothing takes all.
func accepts(r *http.Request, media string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(media, "/")
	for value := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, _, _ := strings.Cut(value, ";")
		if name = strings.ToLower(strings.TrimSpace(name)); name == media || name == "*/*" || name == kind+"/*" {
			return true
		}
	}
	return false
}

// wantsStream reports whether the answer is a stream of events: where the client hears of
// progress, or takes nothing else. It has the SDK take the request whatever it accepts.
func wantsStream(r *http.Request, body []byte) bool {
	events, plain := accepts(r, "text/event-stream"), accepts(r, "application/json")
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream")
	return events && (!plain || bytes.Contains(body, []byte(`"progressToken"`)))
}

// rpcWriter turns the SDK's plain refusals into errors of JSON-RPC, and notes whether the answer
// could be written.
type rpcWriter struct {
	http.ResponseWriter
	refusal int // the status of a plain refusal; 0: none
	text    bytes.Buffer
	failed  bool
}

// Unwrap lets the SDK flush.
func (w *rpcWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader holds a plain refusal back.
func (w *rpcWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.refusal = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *rpcWriter) Write(b []byte) (int, error) {
	if w.refusal != 0 {
		return w.text.Write(b)
	}
	n, err := w.ResponseWriter.Write(b)
	w.failed = w.failed || err != nil
	return n, err
}

// finish writes the refusal that was held back.
func (w *rpcWriter) finish() {
	if w.refusal != 0 {
		w.refuse(w.refusal, jsonrpc.CodeInvalidRequest, strings.TrimSpace(w.text.String()))
	}
}

// refuse answers a request that reaches no tool.
func (w *rpcWriter) refuse(status int, code int64, message string) {
	b, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, &jsonrpc.Error{Code: code, Message: message}})
	if err != nil {
		b = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the refusal cannot be written"}}`)
	}
	w.Header().Set("Content-Type", api.ContentType)
	w.Header().Del("X-Content-Type-Options")
	w.ResponseWriter.WriteHeader(status)
	_, err = w.ResponseWriter.Write(b)
	w.failed = w.failed || err != nil
}
