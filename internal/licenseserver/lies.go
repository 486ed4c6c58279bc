package licenseserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Lies are the ways in which a server can lie or fail.
func Lies() []string {
	return []string{
		"unsigned", "wrong-signature", "other-signer", "wrong-digest", "old-date", "other-license", "other-file",
		"huge", "slow", "redirect", "failing", "page", "cut", "nonsense", "busy",
	}
}

// Lie has the server lie where the path contains a part, until it is called with an empty way.
func (s *Server) Lie(part, way string) {
	if way != "" && !slices.Contains(Lies(), way) {
		panic("licenseserver: there is no lie " + way)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = map[string]string{}
	if way != "" {
		s.lies[part] = way
	}
}

func (s *Server) lieFor(r *http.Request) string {
	for part, way := range s.lies {
		if strings.Contains(r.URL.Path, part) {
			return way
		}
	}
	return ""
}

// lieInstead answers a request with something that is no answer of the protocol.
func (s *Server) lieInstead(w http.ResponseWriter, r *http.Request, lie string) bool {
	switch lie {
	case "huge":
		w.Header().Set("Content-Type", mediaType)
		block := bytes.Repeat([]byte(" "), 1<<16)
		for range 64 { // 4 MiB
			if _, err := w.Write(block); err != nil {
				break
			}
		}
	case "slow": // until the caller has gone
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "redirect":
		http.Redirect(w, r, s.URL+"/v1/elsewhere", http.StatusTemporaryRedirect)
	case "failing":
		w.WriteHeader(http.StatusInternalServerError)
	case "busy":
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(http.StatusTooManyRequests)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Sign in to the network</title>")
	case "cut":
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "{")
	case "nonsense":
		s.send(w, r, answer{http.StatusOK, []byte(`{"data":[1,2,3],"meta":"yes"}`)}, "")
	case "other-file":
		inside := map[string]any{
			"data": s.machineRow(&machine{id: "machine-x", fingerprint: "another"}, &License{ID: "license-x", Product: Product}),
			"meta": map[string]any{"issued": s.now().UTC(), "expiry": nil, "ttl": nil},
		}
		s.send(w, r, document(http.StatusOK, map[string]any{"data": map[string]any{
			"id": "file-x", "type": "machine-files", "attributes": map[string]any{"certificate": s.File("machine", inside, "")},
		}}), "")
	default:
		return false
	}
	return true
}

// aboutAnother changes what an answer is about: another key, fingerprint and license. It is
// signed all the same, as the answer to somebody else's call would be.
func (s *Server) aboutAnother(body []byte) []byte {
	var doc map[string]any
	if json.Unmarshal(body, &doc) != nil {
		return body
	}
	if data, ok := doc["data"].(map[string]any); ok {
		data["id"] = "somebody-elses"
		if attributes, ok := data["attributes"].(map[string]any); ok {
			for _, name := range []string{"key", "fingerprint"} {
				if _, ok := attributes[name]; ok {
					attributes[name] = "somebody-elses"
				}
			}
		}
	}
	if b, err := json.Marshal(doc); err == nil {
		return b
	}
	return body
}
