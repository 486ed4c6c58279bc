package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/near"
	"hubcli/internal/peertext"
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
	body, refused := readMessage(r)
	if refused != nil {
		out.refuseAs(refused)
		return
	}
	request := r.Context()
	b := &bridge{
		Config: Config{Version: e.config.Version}, log: e.config.Log, link: session.NewGuest(guest, e.config.Log),
		request: request, turn: make(chan struct{}, 1),
	}
	b.Now = time.Now
	ctx, cancel := whileThere(request)
	defer cancel()
	r = r.WithContext(context.WithValue(ctx, bridgeKey{}, b))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if wantsStream(r, body) {
		e.stream.ServeHTTP(out, r)
	} else {
		e.plain.ServeHTTP(out, r)
	}
	out.finish()
	if out.failed || request.Err() != nil || http.NewResponseController(w).Flush() != nil {
		return // what was read comes again
	}
	ctx, stop := context.WithTimeout(request, deliveredWait)
	defer stop()
	b.link.Delivered(ctx)
}

// whileThere returns a context that ends with a request, unless it is the hub that ends it: then the
// answers of the calls say so.
func whileThere(request context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	stop := context.AfterFunc(request, func() {
		if cause := context.Cause(request); !errors.Is(cause, &hub.Error{Code: hub.CodeStopping}) {
			cancel(cause)
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// guest says for whom a request acts: the agent and the folder in the address, or in the headers.
func (e *Endpoint) guest(r *http.Request) (session.Guest, *hub.Error) {
	g := session.Guest{Hub: e.hub, DataRoot: e.config.DataRoot}
	q, err := api.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return g, asError(err)
	}
	if err := checkAddress(q); err != nil {
		return g, err.WithFix("the address takes agent and folder, each once")
	}
	agent := q.Text("agent")
	if g.Folder = q.Text("folder"); g.Folder != "" && !filepath.IsAbs(g.Folder) {
		return g, hub.Invalid("folder", "the folder "+quoted(g.Folder, 60)+" is no absolute path").
			WithFix("name the folder of the project from the root of the disk on")
	}
	if named := r.Header.Values(api.HeaderAgent); len(named) > 1 || len(named) == 1 && agent != "" && named[0] != agent {
		return g, hub.Invalid(api.HeaderAgent, "the request names two agents").WithFix("name one, in the address or in " + api.HeaderAgent)
	} else if len(named) == 1 {
		agent = named[0]
	}
	if agent != "" {
		err := hub.CheckSender("agent", hub.AgentID(agent))
		if err == nil {
			err = hub.CheckNoWatcher("agent", hub.AgentID(agent))
		}
		if err != nil {
			return g, asError(err)
		}
	}
	if g.Agent = hub.AgentID(agent); len(r.Header.Values(api.HeaderSession)) > 1 {
		return g, hub.Invalid(api.HeaderSession, "the request proves two sessions").WithFix("send one " + api.HeaderSession)
	}
	g.Session = hub.SessionID(r.Header.Get(api.HeaderSession))
	return g, nil
}

// addressed are the parameters that the address takes.
var addressed = []string{"agent", "folder"}

// checkAddress refuses parameters that are unknown or given twice: a client that is ignored in what it
// says of itself would act as another, or elsewhere.
func checkAddress(q *api.Query) *hub.Error {
	for _, name := range addressed {
		_ = q.Text(name) // it keeps the error
	}
	if err := q.Err(); err != nil {
		return asError(err)
	}
	name, found := q.Unknown(addressed...)
	if !found {
		return nil
	}
	message := "the address has no parameter " + quoted(name, 60)
	if meant := near.Name(name[:min(len(name), longestMeant)], addressed); meant != "" {
		message += ": did you mean " + meant + "?"
	}
	return hub.Invalid(peertext.ModelLine(name), message)
}

// notMessage is the answer to a request that is none.
type notMessage struct {
	status  int
	code    int64
	message string
	id      json.RawMessage // of the request; nil: unknown
	data    any             // for programs; nil: none
}

// maxBatch bounds the messages of a batch. Only the revision 2025-03-26 has batches, and its clients send
// a few calls at most.
const maxBatch = 50

// readMessage reads the body and refuses what is no message, in words. The rest of the
// protocol's rules are the SDK's. A client that does not say what it accepts, or only one of
// the two forms, gets an answer in a form that it takes.
func readMessage(r *http.Request) ([]byte, *notMessage) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != api.ContentType {
		return nil, &notMessage{status: http.StatusUnsupportedMediaType, code: jsonrpc.CodeInvalidRequest, message: "the Content-Type of a message is application/json"}
	}
	if !accepts(r, "application/json") && !accepts(r, "text/event-stream") {
		return nil, &notMessage{status: http.StatusNotAcceptable, code: jsonrpc.CodeInvalidRequest, message: "the Accept header allows neither application/json nor text/event-stream"}
	}
	bad := func(code int64, message string) *notMessage {
		return &notMessage{status: http.StatusBadRequest, code: code, message: message}
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return nil, bad(jsonrpc.CodeInvalidRequest, "the body did not come whole")
	case !json.Valid(body):
		return nil, bad(jsonrpc.CodeParseError, "the body is no JSON")
	case batchOver(body, maxBatch):
		return nil, bad(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the batch has more than %d messages, and none of them was run; send fewer at a time", maxBatch))
	}
	known := sdk.SupportedProtocolVersions()
	if version := r.Header.Get("MCP-Protocol-Version"); version != "" && !slices.Contains(known, version) {
		refused := bad(sdk.CodeUnsupportedProtocolVersion, fmt.Sprintf("the version %s of MCP is not known; known are %s", quoted(version, 40), strings.Join(known, ", ")))
		refused.id, refused.data = idOf(body), sdk.UnsupportedProtocolVersionData{Supported: known, Requested: version}
		return nil, refused
	}
	return body, nil
}

// batchOver reports whether a body is a batch of more than most messages. The body is valid JSON.
func batchOver(body []byte, most int) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return false
	}
	in, n := json.NewDecoder(bytes.NewReader(body)), 0
	if _, err := in.Token(); err != nil {
		return false
	}
	for ; in.More() && n <= most; n++ {
		var one json.RawMessage
		if in.Decode(&one) != nil {
			return false
		}
	}
	return n > most
}

// maxID bounds the id of a request that a refusal repeats, in bytes.
const maxID = 100

// idOf returns the id of a request, or nil. A client that asks which versions are known waits for it.
func idOf(body []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(body, &m) != nil || len(m.ID) == 0 || len(m.ID) > maxID || bytes.ContainsAny(m.ID[:1], "[{tf") {
		return nil
	}
	return m.ID
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
	w.refuseAs(&notMessage{status: status, code: code, message: message})
}

func (w *rpcWriter) refuseAs(n *notMessage) {
	e := &jsonrpc.Error{Code: n.code, Message: n.message}
	var err error
	if n.data != nil {
		e.Data, err = json.Marshal(n.data)
	}
	b, failed := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", n.id, e})
	if err != nil || failed != nil {
		b = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the refusal cannot be written"}}`)
	}
	w.Header().Set("Content-Type", api.ContentType)
	w.Header().Del("X-Content-Type-Options")
	w.ResponseWriter.WriteHeader(n.status)
	_, err = w.ResponseWriter.Write(b)
	w.failed = w.failed || err != nil
}
