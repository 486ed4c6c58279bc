package keygen

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// MaxDrift is how far the date of an answer may be from the clock of this machine.
const MaxDrift = 5 * time.Minute

// Names of headers.
const (
	headerDigest    = "Digest"
	headerDate      = "Date"
	headerSignature = "Keygen-Signature"
)

// digestPrefix begins the digest of a body.
const digestPrefix = "sha-256="

// SigningText is the text that a server signs for an answer.
func SigningText(method, target, host, date, digest string) string {
	return "(request-target): " + strings.ToLower(method) + " " + target + "\nhost: " + host + "\ndate: " + date + "\ndigest: " + digest
}

// DigestOf is the value of the header Digest for a body.
func DigestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return digestPrefix + base64.StdEncoding.EncodeToString(sum[:])
}

// verifyAnswer checks that the server has signed this answer to this request, and lately.
func (s *Server) verifyAnswer(req *http.Request, header http.Header, body []byte, now time.Time) error {
	digest, date, signed := header.Get(headerDigest), header.Get(headerDate), header.Get(headerSignature)
	switch {
	case signed == "":
		return fail(NotGenuine, "the answer is not signed")
	case digest == "" || date == "":
		return fail(NotGenuine, "the answer has no digest or no date")
	case digest != DigestOf(body):
		return fail(NotGenuine, "the digest of the answer is not that of its body")
	}
	params, ok := parseSignature(signed)
	if !ok {
		return fail(NotGenuine, "the signature of the answer cannot be read")
	}
	if params["algorithm"] != "ed25519" {
		return fail(NotGenuine, "the answer is signed in another way than ed25519")
	}
	if headers, given := params["headers"]; given && headers != "(request-target) host date digest" {
		return fail(NotGenuine, "the signature of the answer covers something else")
	}
	sig, err := base64.StdEncoding.DecodeString(params["signature"])
	text := SigningText(req.Method, req.URL.RequestURI(), req.URL.Host, date, digest)
	if err != nil || !ed25519.Verify(s.PublicKey, []byte(text), sig) {
		return fail(NotGenuine, "the signature of the answer is not by the configured public key")
	}
	at, err := http.ParseTime(date)
	if err != nil {
		return fail(NotGenuine, "the date of the answer cannot be read")
	}
	if drift := now.Sub(at); drift > MaxDrift || drift < -MaxDrift {
		return fail(NotGenuine, "the date of the answer is %s from the clock of this machine", drift.Abs().Round(time.Second))
	}
	return nil
}

// maxParams is how many parameters a header of a signature may have.
const maxParams = 16

// parseSignature reads the parameters of a header such as
// keyid="…", algorithm="ed25519", signature="…", headers="…".
func parseSignature(header string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range strings.Split(header, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || i == maxParams || len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return nil, false
		}
		if _, twice := params[key]; twice {
			return nil, false
		}
		params[key] = value[1 : len(value)-1]
	}
	return params, true
}

// looksLikePage says whether a body is a web page, as a proxy or a captive portal sends it.
func looksLikePage(header http.Header, body []byte) bool {
	return strings.HasPrefix(header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}
