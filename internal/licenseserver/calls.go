package licenseserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const mediaType = "application/vnd.api+json"

// read decodes a body that has these members and no others.
func read(r *http.Request, into any) error {
	if got := r.Header.Get("Content-Type"); got != mediaType {
		return fmt.Errorf("the header Content-Type is %q", got)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one document")
	}
	return nil
}

// noBody refuses a body where the protocol has none.
func noBody(r *http.Request) error {
	if b, _ := io.ReadAll(r.Body); len(b) > 0 {
		return errors.New("there is a body")
	}
	return nil
}

func (s *Server) licenseRow(l *License) map[string]any {
	return map[string]any{
		"id": l.ID, "type": "licenses",
		"attributes": map[string]any{"key": l.Key, "expiry": l.Expiry, "status": "ACTIVE", "suspended": l.Status == "SUSPENDED", "maxMachines": l.Max},
		"relationships": map[string]any{
			"product":  map[string]any{"data": map[string]any{"type": "products", "id": l.Product}},
			"machines": map[string]any{"links": map[string]any{"related": "/v1/accounts/" + Account + "/licenses/" + l.ID + "/machines"}},
			"owner":    map[string]any{"data": nil},
		},
	}
}

func (s *Server) machineRow(m *machine, l *License) map[string]any {
	return map[string]any{
		"id": m.id, "type": "machines",
		"attributes": map[string]any{"fingerprint": m.fingerprint, "platform": m.platform, "name": nil, "requireHeartbeat": false},
		"relationships": map[string]any{
			"license": map[string]any{"data": map[string]any{"type": "licenses", "id": l.ID}},
			"product": map[string]any{"data": map[string]any{"type": "products", "id": l.Product}},
		},
	}
}

// validate answers validate-key: 200, whatever the verdict.
func (s *Server) validate(r *http.Request) answer {
	var in struct {
		Meta struct {
			Key   string `json:"key"`
			Scope *struct {
				Fingerprint string `json:"fingerprint"`
				Product     string `json:"product"`
			} `json:"scope"`
		} `json:"meta"`
	}
	if err := read(r, &in); err != nil {
		return s.complain(r, "%v", err)
	}
	if in.Meta.Key == "" || in.Meta.Scope == nil || in.Meta.Scope.Fingerprint == "" || in.Meta.Scope.Product == "" {
		return s.complain(r, "meta needs a key and a scope with fingerprint and product")
	}
	l := s.byKey(in.Meta.Key)
	code := s.codeFor(l, in.Meta.Scope.Fingerprint, in.Meta.Scope.Product)
	doc := map[string]any{"data": nil, "meta": map[string]any{
		"ts": s.now().UTC(), "valid": code == "VALID", "detail": "…", "code": code, "scope": in.Meta.Scope,
	}}
	if l != nil {
		doc["data"] = s.licenseRow(l)
	}
	return document(http.StatusOK, doc)
}

func (s *Server) codeFor(l *License, fingerprint, product string) string {
	if l == nil {
		return "NOT_FOUND"
	}
	mine := s.of(l)
	switch {
	case l.Status != "":
		return l.Status
	case l.Product != product:
		return "PRODUCT_SCOPE_MISMATCH"
	case l.Expiry != nil && !s.now().Before(*l.Expiry):
		return "EXPIRED"
	case len(mine) == 0:
		return "NO_MACHINES"
	case !slices.ContainsFunc(mine, func(m machine) bool { return m.fingerprint == fingerprint }):
		return "FINGERPRINT_SCOPE_MISMATCH"
	case len(mine) > l.Max:
		return "TOO_MANY_MACHINES"
	}
	return "VALID"
}

func (s *Server) of(l *License) []machine {
	var list []machine
	for _, m := range s.machines {
		if m.license == l.ID {
			list = append(list, m)
		}
	}
	return list
}

// asLicense authenticates a call by the key of a license.
func (s *Server) asLicense(r *http.Request, do func(*http.Request, *License) answer) answer {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "License ")
	if !ok {
		return s.complain(r, "it is not authenticated with a license")
	}
	l := s.byKey(key)
	switch {
	case l == nil:
		return refuse(http.StatusUnauthorized, "LICENSE_INVALID", "Unauthorized")
	case l.Status == "SUSPENDED":
		return refuse(http.StatusForbidden, "LICENSE_SUSPENDED", "Access denied")
	case l.Expiry != nil && !s.now().Before(*l.Expiry):
		return refuse(http.StatusForbidden, "LICENSE_EXPIRED", "Access denied")
	}
	return do(r, l)
}

func (s *Server) addMachine(r *http.Request, l *License) answer {
	var in struct {
		Data struct {
			Type       string `json:"type"`
			Attributes struct {
				Fingerprint string `json:"fingerprint"`
				Platform    string `json:"platform"`
			} `json:"attributes"`
			Relationships struct {
				License struct {
					Data struct {
						Type string `json:"type"`
						ID   string `json:"id"`
					} `json:"data"`
				} `json:"license"`
			} `json:"relationships"`
		} `json:"data"`
	}
	if err := read(r, &in); err != nil {
		return s.complain(r, "%v", err)
	}
	to := in.Data.Relationships.License.Data
	switch {
	case in.Data.Type != "machines" || to.Type != "licenses" || in.Data.Attributes.Fingerprint == "":
		return s.complain(r, "it is no machine of a license")
	case to.ID != l.ID:
		return refuse(http.StatusForbidden, "LICENSE_NOT_ALLOWED", "Access denied")
	case s.find(l, in.Data.Attributes.Fingerprint) != nil:
		return refuse(http.StatusUnprocessableEntity, "FINGERPRINT_TAKEN", "Unprocessable resource")
	case len(s.of(l)) >= l.Max:
		return refuse(http.StatusUnprocessableEntity, "MACHINE_LIMIT_EXCEEDED", "Unprocessable resource")
	}
	s.made++
	m := machine{id: fmt.Sprintf("machine-%d", s.made), license: l.ID, fingerprint: in.Data.Attributes.Fingerprint, platform: in.Data.Attributes.Platform}
	s.machines = append(s.machines, m)
	return document(http.StatusCreated, map[string]any{"data": s.machineRow(&m, l)})
}

// find returns a machine of a license by its id or its fingerprint.
func (s *Server) find(l *License, name string) *machine {
	for i := range s.machines {
		if m := &s.machines[i]; m.license == l.ID && (m.id == name || m.fingerprint == name) {
			return m
		}
	}
	return nil
}

func notFound() answer { return refuse(http.StatusNotFound, "NOT_FOUND", "Not found") }

func (s *Server) showMachine(l *License, name string) answer {
	m := s.find(l, name)
	if m == nil {
		return notFound()
	}
	return document(http.StatusOK, map[string]any{"data": s.machineRow(m, l)})
}

func (s *Server) removeMachine(r *http.Request, l *License, name string) answer {
	if err := noBody(r); err != nil {
		return s.complain(r, "%v", err)
	}
	m := s.find(l, name)
	if m == nil {
		return notFound()
	}
	id := m.id
	s.machines = slices.DeleteFunc(s.machines, func(m machine) bool { return m.id == id })
	return answer{status: http.StatusNoContent}
}

// checkOut makes a machine file as the query asks.
func (s *Server) checkOut(r *http.Request, l *License, name string) answer {
	if err := noBody(r); err != nil {
		return s.complain(r, "%v", err)
	}
	query := r.URL.Query()
	const least = 3600
	ttl, err := strconv.Atoi(query.Get("ttl"))
	if err != nil || ttl < least {
		return s.complain(r, "ttl is %q, and must be at least %d", query.Get("ttl"), least)
	}
	for param, values := range query {
		if !slices.Contains([]string{"algorithm", "encrypt", "include", "ttl"}, param) || len(values) != 1 {
			return s.complain(r, "there is no parameter %s", param)
		}
	}
	if query.Get("algorithm") != "aes-256-gcm+ed25519" || query.Get("encrypt") != "true" || query.Get("include") != "license" {
		return s.complain(r, "the file is not encrypted, or does not include the license")
	}
	m := s.find(l, name)
	if m == nil {
		return notFound()
	}
	issued := s.now().UTC()
	expiry := issued.Add(time.Duration(ttl) * time.Second)
	inside := map[string]any{
		"data": s.machineRow(m, l), "included": []any{s.licenseRow(l)},
		"meta": map[string]any{"issued": issued, "expiry": expiry, "ttl": ttl},
	}
	return document(http.StatusOK, map[string]any{"data": map[string]any{
		"id": "file-" + m.id, "type": "machine-files",
		"attributes": map[string]any{"certificate": s.File("machine", inside, l.Key+m.fingerprint), "algorithm": "aes-256-gcm+ed25519", "issued": issued, "expiry": expiry, "ttl": ttl},
		"relationships": map[string]any{
			"machine": map[string]any{"data": map[string]any{"type": "machines", "id": m.id}},
			"license": map[string]any{"data": map[string]any{"type": "licenses", "id": l.ID}},
		},
	}})
}
