package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hubcli/hub"
)

// fault is why a provider could not be asked. It quotes nothing of an answer: some
// providers repeat a part of the key in theirs.
type fault struct {
	kind    hub.ProviderFault
	message string
	fix     string
}

func (f *fault) Error() string { return f.message }

// noConnection explains an error of the transport.
func (t *target) noConnection(ctx context.Context, host string, err error) *fault {
	var (
		dns     *net.DNSError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	late := errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() && !errors.As(err, &op) {
		late = true
	}
	switch {
	case errors.As(err, &verify) || errors.As(err, &unknown):
		return &fault{
			hub.FaultTLS, "the certificate of " + host + " is not trusted: " + why(err),
			"check the clock of this machine; behind a company's proxy, add its certificate to those that the system trusts. The key was not sent",
		}
	case errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &op) && strings.HasSuffix(op.Op, " error"): // an alert of TLS
		return &fault{
			hub.FaultTLS, host + " does not speak TLS as it should",
			"something between may answer in its place, such as a proxy or the login page of a network; check the endpoint, too. The key was not sent",
		}
	case errors.As(err, &dns) && !late:
		return &fault{
			hub.FaultNoNetwork, "the name " + host + " is not found",
			"check the network of this machine and its name servers; for a custom provider check the endpoint",
		}
	case late || errors.As(err, &op) && op.Timeout():
		return &fault{hub.FaultTimeout, host + " did not answer in time", "try again; if it persists, check the network and the status page of the provider"}
	case errors.As(err, &op):
		return &fault{
			hub.FaultNoNetwork, "no connection to " + host + " comes about: " + reason(op),
			"check the network, and HTTPS_PROXY in the environment of the hub; a server on this machine may not run",
		}
	}
	return &fault{hub.FaultNoNetwork, "the connection to " + host + " ended early", "try again; if it persists, check the network and any proxy between"}
}

// why says what is wrong with a certificate.
func why(err error) string {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "it is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	}
	return "an unknown authority has signed it"
}

// reason is the system's word for a connection that does not come about.
func reason(op *net.OpError) string {
	text := op.Err.Error()
	if at := strings.LastIndex(text, ": "); at >= 0 {
		text = text[at+2:]
	}
	return text
}

// otherRegion are the words with which providers say that a key belongs elsewhere.
var otherRegion = []string{"incorrect_hostname", "unsupported_country_region_territory", "wrong_region", "region_mismatch"}

// refused explains an answer that is none of success. Body is its beginning.
func (t *target) refused(answer *http.Response, body []byte) *fault {
	host, status := answer.Request.URL.Host, answer.StatusCode
	lower := strings.ToLower(string(body))
	switch {
	case status >= 300 && status < 400:
		return t.redirected(answer)
	case status == http.StatusNetworkAuthenticationRequired || isPage(answer, body) && (status < 300 || status == http.StatusForbidden):
		return portal(host, "with a page for people")
	case slices.ContainsFunc(otherRegion, func(word string) bool { return strings.Contains(lower, word) }), status == http.StatusMisdirectedRequest:
		return &fault{hub.FaultWrongRegion, host + " says that the key belongs to another region", t.regions()}
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusBadRequest && (strings.Contains(lower, "api key") || strings.Contains(lower, "api_key") || strings.Contains(lower, "apikey")):
		return t.wrongKey(host, status)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone:
		if t.preset.ID == hub.ProviderCustom {
			return &fault{
				hub.FaultWrongRegion, fmt.Sprintf("%s has no list of models there: it answers %d", host, status),
				"give the base URL to which /models or /v1/models can be added",
			}
		}
		return &fault{hub.FaultWrongRegion, fmt.Sprintf("%s does not serve this: it answers %d", host, status), t.regions()}
	case status == http.StatusTooManyRequests || status == http.StatusPaymentRequired:
		fix := "wait a while, and look at the limits and the credit of the account"
		if after := answer.Header.Get("Retry-After"); after != "" && len(after) <= 40 && !strings.ContainsFunc(after, control) {
			fix = "wait: it says to try again after " + after + "; look at the limits and the credit of the account"
		}
		return &fault{hub.FaultRateLimited, host + " refuses more calls for now", fix}
	case status >= 500:
		return &fault{hub.FaultProviderDown, fmt.Sprintf("%s has trouble: it answers %d", host, status), "try again later; see the status page of the provider"}
	}
	return &fault{hub.FaultBadAnswer, fmt.Sprintf("%s answers %d, which this hub does not understand", host, status), "check the endpoint; the provider may have changed its interface"}
}

func (t *target) wrongKey(host string, status int) *fault {
	fix := "give the connection a key that is valid"
	if t.preset.KeysByRegion {
		fix = "give a valid key. A key of this provider is good in one region alone: " + t.regions()
	}
	what := "the key"
	if status == http.StatusForbidden {
		what = "the key, or what it may do,"
	}
	return &fault{hub.FaultWrongKey, host + " does not accept " + what + fmt.Sprintf(": it answers %d", status), fix}
}

// regions says which regions there are.
func (t *target) regions() string {
	if len(t.preset.Regions) == 0 {
		return "check the account at the provider; this preset has one region"
	}
	names := make([]string, len(t.preset.Regions))
	for i, r := range t.preset.Regions {
		names[i] = r.Name
	}
	return "this connection uses " + t.Region + "; change it if the key belongs to another one of " + strings.Join(names, ", ")
}

// redirected explains a redirect. None is followed: it could carry the key elsewhere.
func (t *target) redirected(answer *http.Response) *fault {
	host := answer.Request.URL.Host
	to, err := url.Parse(answer.Header.Get("Location"))
	if err == nil && to.Host != "" && !strings.EqualFold(to.Host, host) {
		return portal(host, "with a redirect to "+shownHost(to.Host))
	}
	return &fault{hub.FaultBadAnswer, host + " answers with a redirect, and a key follows none", "give the endpoint to which it leads, if it is the provider's"}
}

// shownHost makes the name of a server safe to show.
func shownHost(host string) string {
	if len(host) > 100 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > 0x7e }) {
		return "another server"
	}
	return host
}

func portal(host, how string) *fault {
	return &fault{
		hub.FaultCaptivePortal, "something answers in place of " + host + ", " + how,
		"open a web page in a browser on this machine: the network may want you to log in. A proxy or a moved endpoint does the same",
	}
}

// isPage reports whether an answer is a page for people.
func isPage(answer *http.Response, body []byte) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// unreadable explains an answer of success that cannot be read.
func unreadable(host string, err error) *fault {
	f := &fault{hub.FaultBadAnswer, host + " answers something else than a list of models", "check the endpoint; the provider may have changed its interface"}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		f.message, f.fix = "the answer of "+host+" ended early", "try again"
	}
	return f
}
