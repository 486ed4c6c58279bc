package provider

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

var quiet = log.New(io.Discard, "", 0)

const goodKey = "sk-the-good-one"

// vendor is how a provider answers, as it documents: where, to which header, with what.
type vendor struct {
	id      hub.ProviderID
	region  string
	host    string
	path    string // of the list, with its query
	header  string
	value   string
	pages   []string // files of testdata, in the order of the pages
	next    string   // query of the second page
	keyTest string   // host and path; empty: the list proves the key
	open    bool     // the list answers everybody
	want    hub.ProviderModel
	models  int
}

func vendors() []vendor {
	bearer := func(v vendor) vendor { v.header, v.value = "Authorization", "Bearer "+goodKey; return v }
	money := func(in, out float64) *hub.ProviderPrice {
		return &hub.ProviderPrice{Input: in, Output: out, Currency: "USD"}
	}
	return []vendor{
		bearer(vendor{id: "openai", region: "eu", host: "eu.api.openai.com", path: "/v1/models", pages: []string{"openai"}, want: hub.ProviderModel{ModelID: "gpt-5"}, models: 2}),
		{
			id: "anthropic", host: "api.anthropic.com", path: "/v1/models?limit=1000", header: "x-api-key", value: goodKey,
			pages: []string{"anthropic-1", "anthropic-2"}, next: "after_id=claude-sonnet-5",
			want: hub.ProviderModel{ModelID: "claude-opus-5", Name: "Claude Opus 5", ContextTokens: 200000, OutputTokens: 64000}, models: 3,
		},
		{
			id: "gemini", host: "generativelanguage.googleapis.com", path: "/v1beta/models?pageSize=1000", header: "x-goog-api-key", value: goodKey,
			pages: []string{"gemini-1", "gemini-2"}, next: "pageToken=second",
			want: hub.ProviderModel{ModelID: "gemini-3-pro", Name: "Gemini 3 Pro", ContextTokens: 1048576, OutputTokens: 65536}, models: 2,
		},
		bearer(vendor{id: "mistral", host: "api.mistral.ai", path: "/v1/models", pages: []string{"mistral"}, want: hub.ProviderModel{ModelID: "mistral-large-latest", Name: "mistral-large-2512", ContextTokens: 131072}, models: 1}),
		bearer(vendor{id: "groq", host: "api.groq.com", path: "/openai/v1/models", pages: []string{"groq"}, want: hub.ProviderModel{ModelID: "llama-4", ContextTokens: 131072}, models: 1}),
		bearer(vendor{id: "openrouter", host: "openrouter.ai", path: "/api/v1/models", pages: []string{"openrouter"}, keyTest: "openrouter.ai/api/v1/key", open: true, want: hub.ProviderModel{ModelID: "a/b", Name: "A: B", ContextTokens: 256000, OutputTokens: 32000, Price: money(1.25, 10)}, models: 2}),
		bearer(vendor{id: "xai", host: "api.x.ai", path: "/v1/language-models", pages: []string{"xai"}, keyTest: "api.x.ai/v1/api-key", want: hub.ProviderModel{ModelID: "grok-5", ContextTokens: 256000, Price: money(2, 10)}, models: 1}),
		bearer(vendor{id: "together", host: "api.together.ai", path: "/v1/models", pages: []string{"together"}, want: hub.ProviderModel{ModelID: "org/m", Name: "M", ContextTokens: 8192, Price: money(0.88, 0.9)}, models: 1}),
		bearer(vendor{id: "fireworks", host: "api.fireworks.ai", path: "/v1/accounts/fireworks/models?pageSize=200", pages: []string{"fireworks"}, want: hub.ProviderModel{ModelID: "accounts/fireworks/models/q", Name: "Q", ContextTokens: 40960}, models: 1}),
		bearer(vendor{id: "cohere", host: "api.cohere.com", path: "/v1/models?page_size=1000&endpoint=chat", pages: []string{"cohere"}, want: hub.ProviderModel{ModelID: "command-a", ContextTokens: 256000}, models: 1}),
		bearer(vendor{id: "perplexity", host: "api.perplexity.ai", path: "none", keyTest: "api.perplexity.ai/async/chat/completions", want: hub.ProviderModel{ModelID: "sonar"}, models: 4}),
		bearer(vendor{id: "dashscope", region: "beijing", host: "dashscope.aliyuncs.com", path: "/compatible-mode/v1/models", pages: []string{"openai"}, want: hub.ProviderModel{ModelID: "gpt-5"}, models: 2}),
		bearer(vendor{id: "nvidia", host: "integrate.api.nvidia.com", path: "/v1/models", pages: []string{"openai"}, open: true, want: hub.ProviderModel{ModelID: "gpt-5"}, models: 2}),
		bearer(vendor{id: "huggingface", host: "router.huggingface.co", path: "/v1/models", pages: []string{"huggingface"}, keyTest: "huggingface.co/api/whoami-v2", open: true, want: hub.ProviderModel{ModelID: "o/m", ContextTokens: 65536, Price: money(0.5, 1.5)}, models: 1}),
		bearer(vendor{id: "github-models", host: "models.github.ai", path: "/catalog/models", pages: []string{"github"}, keyTest: "api.github.com/rate_limit", open: true, want: hub.ProviderModel{ModelID: "openai/gpt-5", Name: "GPT-5", ContextTokens: 200000, OutputTokens: 100000}, models: 1}),
		{id: "azure-openai", host: "acme.openai.azure.com", path: "/openai/v1/models", header: "api-key", value: goodKey, pages: []string{"openai"}, want: hub.ProviderModel{ModelID: "gpt-5"}, models: 2},
		bearer(vendor{id: "bedrock", region: "eu-west-1", host: "bedrock.eu-west-1.amazonaws.com", path: "/foundation-models?byOutputModality=TEXT", pages: []string{"bedrock"}, want: hub.ProviderModel{ModelID: "amazon.nova-2", Name: "Nova 2"}, models: 1}),
		bearer(vendor{id: "vertex", host: "aiplatform.googleapis.com", path: "/v1beta1/publishers/google/models?pageSize=100", pages: []string{"vertex"}, want: hub.ProviderModel{ModelID: "gemini-3-pro"}, models: 1}),
		bearer(vendor{id: "ollama", region: "cloud", host: "ollama.com", path: "/api/tags", pages: []string{"ollama"}, want: hub.ProviderModel{ModelID: "qwen3:8b"}, models: 1}),
	}
}

// serve answers as the vendor does.
func (v *vendor) serve(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		authorized := r.Header.Get(v.header) == v.value
		at := r.Host + r.URL.RequestURI()
		switch {
		case v.keyTest != "" && at == v.keyTest:
			if !authorized {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprint(w, `{}`)
			return
		case r.Host != v.host || !v.asksFor(r.URL):
			t.Errorf("%s: it was asked at %s", v.id, at)
			w.WriteHeader(http.StatusNotFound)
			return
		case !authorized && !v.open:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get(v.header))
			return
		}
		if v.id == "anthropic" && r.Header.Get("anthropic-version") != "2023-06-01" {
			t.Error("anthropic: the version is missing")
		}
		page := 0
		if v.next != "" && strings.Contains(r.URL.RawQuery, v.next) {
			page = 1
		}
		body, err := os.ReadFile("testdata/" + v.pages[page] + ".json")
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
}

// asksFor reports whether a request is for the list, with all of its query.
func (v *vendor) asksFor(u *url.URL) bool {
	path, query, _ := strings.Cut(v.path, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if !slices.Contains(strings.Split(u.RawQuery, "&"), pair) {
			return false
		}
	}
	return u.Path == path
}

// TestVendors asks every kind of provider as it documents, with a good key and a wrong one.
func TestVendors(t *testing.T) {
	for _, v := range vendors() {
		t.Run(string(v.id), func(t *testing.T) {
			w := newWorld(t, v.serve(t))
			to := hub.ProviderTarget{ProviderID: v.id, Region: v.region, Params: map[string]string{}}
			for _, q := range must(find(v.id)).Params {
				to.Params[q.Name] = "acme"
			}
			check, models, err := w.client.Check(t.Context(), to, hub.NewSecret(goodKey))
			require.NoError(t, err)
			proof := hub.KeyProved
			if v.open && v.keyTest == "" {
				proof = hub.KeyNotProved
			}
			if !check.OK || check.Key != proof || len(models) != v.models {
				t.Fatalf("%+v with %d models", check, len(models))
			}
			got := models[0]
			if fmt.Sprintf("%+v %+v", plain(got), got.Price) != fmt.Sprintf("%+v %+v", plain(v.want), v.want.Price) {
				t.Errorf("%+v %+v, want %+v %+v", got, got.Price, v.want, v.want.Price)
			}
			if proof == hub.KeyNotProved {
				return
			}
			check, models, err = w.client.Check(t.Context(), to, hub.NewSecret("sk-a-wrong-one"))
			require.NoError(t, err)
			if check.OK || check.Fault != hub.FaultWrongKey || models != nil || check.Fix == "" || strings.Contains(check.Message+check.Fix, "wrong-one") {
				t.Errorf("a wrong key: %+v", check)
			}
		})
	}
}

func plain(m hub.ProviderModel) hub.ProviderModel { m.Price = nil; return m }

func must(p *preset, err error) *preset {
	if err != nil {
		panic(err)
	}
	return p
}

// TestFaults tells apart what can go wrong between the hub and a provider.
func TestFaults(t *testing.T) {
	answer := func(status int, header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set(header, value)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for _, c := range []struct {
		name   string
		id     hub.ProviderID
		answer http.HandlerFunc
		want   hub.ProviderFault
	}{
		{"401", "openai", answer(401, "", "", `{}`), hub.FaultWrongKey},
		{"403", "openai", answer(403, "", "", `{}`), hub.FaultWrongKey},
		{"Gemini says it with 400", "gemini", answer(400, "", "", `{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}`), hub.FaultWrongKey},
		{"another 400", "gemini", answer(400, "", "", `{"error":{}}`), hub.FaultBadAnswer},
		{"the host of another region", "openai", answer(401, "", "", `{"error":{"code":"incorrect_hostname"}}`), hub.FaultWrongRegion},
		{"a country", "openai", answer(403, "", "", `{"error":{"code":"unsupported_country_region_territory"}}`), hub.FaultWrongRegion},
		{"404", "mistral", answer(404, "", "", `{}`), hub.FaultWrongRegion},
		{"421", "mistral", answer(421, "", "", `{}`), hub.FaultWrongRegion},
		{"429", "groq", answer(429, "Retry-After", "12", `{}`), hub.FaultRateLimited},
		{"402", "deepseek", answer(402, "", "", `{}`), hub.FaultRateLimited},
		{"500", "groq", answer(500, "", "", `{}`), hub.FaultProviderDown},
		{"511", "groq", answer(511, "", "", `<html>`), hub.FaultCaptivePortal},
		{"a page", "groq", answer(200, "Content-Type", "text/html; charset=utf-8", `<html>log in`), hub.FaultCaptivePortal},
		{"a page that says nothing", "groq", answer(200, "Content-Type", "application/json", "\n <!DOCTYPE html>"), hub.FaultCaptivePortal},
		{"a blocking page", "groq", answer(403, "Content-Type", "text/html", `blocked`), hub.FaultCaptivePortal},
		{"a redirect away", "groq", answer(302, "Location", "http://login.hotel.example/", ""), hub.FaultCaptivePortal},
		{"a redirect within", "groq", answer(301, "Location", "/v2/models", ""), hub.FaultBadAnswer},
		{"no JSON", "groq", answer(200, "", "", `hello`), hub.FaultBadAnswer},
		{"no list", "groq", answer(200, "", "", `{"ok":true}`), hub.FaultBadAnswer},
		{"a list of no rows", "groq", answer(200, "", "", `{"data":{}}`), hub.FaultBadAnswer},
		{"half an answer", "groq", answer(200, "", "", `{"data":[`), hub.FaultBadAnswer},
		{"nothing", "groq", answer(200, "", "", ``), hub.FaultBadAnswer},
		{"418", "groq", answer(418, "", "", `{}`), hub.FaultBadAnswer},
		{"a body without an end", "groq", func(w http.ResponseWriter, _ *http.Request) { flood(w) }, hub.FaultBadAnswer},
		{"a small body that unpacks to a large one", "groq", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			flood(z)
			_ = z.Close()
		}, hub.FaultBadAnswer},
		{"pages in a circle", "gemini", answer(200, "", "", `{"models":[],"nextPageToken":"again"}`), hub.FaultBadAnswer},
		{"the connection breaks", "groq", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"data":[`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, hub.FaultBadAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.answer)
			check, models, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: c.id}, hub.NewSecret(goodKey))
			require.NoError(t, err)
			if check.OK || check.Fault != c.want || check.Message == "" || check.Fix == "" || models != nil {
				t.Errorf("%+v", check)
			}
			if strings.Contains(check.Message+check.Fix, goodKey) {
				t.Errorf("the key is told: %+v", check)
			}
		})
	}
}

func flood(w io.Writer) {
	chunk := []byte(strings.Repeat(" ", 1<<16))
	for n := 0; n <= maxBody+len(chunk); n += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// TestNoConnection tells apart what keeps a connection from coming about.
func TestNoConnection(t *testing.T) {
	good := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[]}`) }
	for _, c := range []struct {
		name   string
		change func(*testing.T, *world)
		want   hub.ProviderFault
	}{
		{"an authority that is not trusted", func(_ *testing.T, w *world) { w.client.Roots = nil }, hub.FaultTLS},
		{"no such name", func(_ *testing.T, w *world) {
			w.client.Dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "api.groq.com", IsNotFound: true}}
			}
		}, hub.FaultNoNetwork},
		{"nobody listens", func(_ *testing.T, w *world) { w.server.Close() }, hub.FaultNoNetwork},
		{"no TLS", func(t *testing.T, w *world) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			server := &http.Server{Handler: http.HandlerFunc(good), ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
			go func() { _ = server.Serve(l) }()
			t.Cleanup(func() { _ = server.Close() })
			w.client.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", l.Addr().String())
			}
		}, hub.FaultTLS},
		{"silence", func(t *testing.T, w *world) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = l.Close() })
			w.client.Timeout = 100 * time.Millisecond
			w.client.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", l.Addr().String())
			}
		}, hub.FaultTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, good)
			c.change(t, w)
			check, _, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: "groq"}, hub.NewSecret(goodKey))
			require.NoError(t, err)
			if check.OK || check.Fault != c.want || check.Fix == "" {
				t.Errorf("%+v", check)
			}
			if len(w.requests()) != 0 {
				t.Error("the key was sent")
			}
		})
	}
	for name, certificate := range map[string]func(*tls.ClientHelloInfo) (*tls.Certificate, error){
		"expired": func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return certificateFor(h.ServerName, time.Now().Add(-time.Hour))
		},
		"another name": func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return certificateFor("evil.example", time.Now().Add(time.Hour))
		},
		"none": func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("there is none") },
	} {
		w := newWorldWith(t, good, certificate)
		check, _, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: "groq"}, hub.NewSecret(goodKey))
		require.NoError(t, err)
		if check.Fault != hub.FaultTLS || len(w.requests()) != 0 {
			t.Errorf("%s: %+v, %d requests", name, check, len(w.requests()))
		}
	}
}

// TestTheKeyGoesNowhereElse: no redirect carries it, and no server but those of the target
// sees it.
func TestTheKeyGoesNowhereElse(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"https://evil.example/v1/models", "https://api.groq.com/elsewhere", "//evil.example", "http://api.groq.com/"} {
			w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			check, _, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: "groq"}, hub.NewSecret(goodKey))
			require.NoError(t, err)
			if n := len(w.requests()); check.OK || n != 1 {
				t.Errorf("%d to %s: %d requests, %+v", status, location, n, check)
			}
		}
	}
	var c Client
	check, _, err := c.Check(t.Context(), hub.ProviderTarget{ProviderID: "custom", Endpoint: "http://llm.example/v1"}, hub.NewSecret(goodKey))
	require.NoError(t, err)
	if check.Fault != hub.FaultTLS || !strings.Contains(check.Message, "in the clear") {
		t.Errorf("a key over plain HTTP: %+v", check)
	}
	check, _, err = c.Check(t.Context(), hub.ProviderTarget{ProviderID: "openai"}, hub.Secret{})
	require.NoError(t, err)
	if check.Fault != hub.FaultNoKey {
		t.Errorf("without a key: %+v", check)
	}
}

// TestCustom: a server of one's own may list its models at either place, as a list alone,
// with or without a key.
func TestCustom(t *testing.T) {
	for _, c := range []struct {
		name, path, body string
		key              string
		guarded          bool
		proof            hub.KeyProof
	}{
		{"at the base", "/x/models", `{"data":[{"id":"m"}]}`, "", false, hub.KeyNone},
		{"below v1", "/x/v1/models", `[{"id":"m","max_model_len":4096}]`, "", false, hub.KeyNone},
		{"open to all", "/x/models", `{"data":[{"id":"m"}]}`, goodKey, false, hub.KeyNotProved},
		{"guarded", "/x/models", `{"data":[{"id":"m"}]}`, goodKey, true, hub.KeyProved},
	} {
		w := newWorld(t, func(out http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != c.path:
				http.NotFound(out, r)
			case c.guarded && r.Header.Get("Authorization") == "":
				out.WriteHeader(http.StatusUnauthorized)
			default:
				fmt.Fprint(out, c.body)
			}
		})
		check, models, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: "custom", Endpoint: "https://llm.example/x"}, hub.NewSecret(c.key))
		require.NoError(t, err)
		if !check.OK || check.Key != c.proof || len(models) != 1 || models[0].ModelID != "m" {
			t.Errorf("%s: %+v %+v", c.name, check, models)
		}
	}
}

// TestManyModels: a list without an end is cut, not refused, and each page counts once.
func TestManyModels(t *testing.T) {
	page := 0
	w := newWorld(t, func(out http.ResponseWriter, _ *http.Request) {
		page++
		fmt.Fprintf(out, `{"models":[{"name":"models/m%d"}],"nextPageToken":"%d"}`, page, page)
	})
	check, models, err := w.client.Check(t.Context(), hub.ProviderTarget{ProviderID: "gemini"}, hub.NewSecret(goodKey))
	require.NoError(t, err)
	if !check.OK || len(models) != maxPages || models[1].ModelID != "m2" {
		t.Errorf("%+v, %d models", check, len(models))
	}
}
