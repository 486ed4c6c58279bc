package provider

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

//go:embed presets.json
var table []byte

// preset is one row of the table. Addresses may hold {base}, {origin}, {region} and the
// names of parameters.
type preset struct {
	ID            hub.ProviderID      `json:"id"`
	Label         string              `json:"label"`
	Env           []string            `json:"env"`
	Base          string              `json:"base"`
	Regions       []region            `json:"regions"`
	DefaultRegion string              `json:"default_region"`
	Params        []hub.ProviderParam `json:"params"`
	Headers       map[string]string   `json:"headers"`
	Auth          string              `json:"auth"`           // "bearer", or the name of a header
	Key           string              `json:"key"`            // "required" or "optional"
	KeysByRegion  bool                `json:"keys_by_region"` // a key is good in one region alone
	Catalog       *catalog            `json:"catalog"`
	Static        []string            `json:"static"`   // models of a provider without a catalog
	KeyTest       string              `json:"key_test"` // address that only a good key opens, where the catalog proves nothing
	Note          string              `json:"note"`
	Docs          string              `json:"docs"`
	Source        string              `json:"source"`
	Checked       string              `json:"checked"`
}

// region is a place where a provider serves. An empty base is the row's.
type region struct {
	Name string `json:"name"`
	Base string `json:"base"`
}

// catalog says where the list of models is, and how to read it.
type catalog struct {
	URL     string  `json:"url"`
	Dialect dialect `json:"dialect"`
	List    string  `json:"list"`  // name of the list, where it is not the dialect's
	Strip   string  `json:"strip"` // beginning of ids that is not a part of them
}

// presets returns the table. A table that cannot be read is a mistake in this program.
var presets = sync.OnceValue(func() []preset {
	var rows []preset
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(&rows); err != nil {
		panic("provider: presets.json: " + err.Error())
	}
	return rows
})

// Presets lists the presets.
func (*Client) Presets() []hub.Provider {
	out := make([]hub.Provider, 0, len(presets()))
	for i := range presets() {
		p := &presets()[i]
		row := hub.Provider{
			ProviderID: p.ID, Label: p.Label, Env: append([]string{}, p.Env...), Endpoint: p.base(p.DefaultRegion),
			DefaultRegion: p.DefaultRegion, Regions: []hub.ProviderRegion{}, Params: append([]hub.ProviderParam{}, p.Params...),
			KeyOptional: p.Key == "optional", Catalog: p.Catalog != nil, Note: p.Note, Docs: p.Docs, Source: p.Source, Checked: p.Checked,
		}
		if len(p.Env) > 0 {
			row.EnvVar = p.Env[0]
		}
		for _, r := range p.Regions {
			row.Regions = append(row.Regions, hub.ProviderRegion{Region: r.Name, Endpoint: p.base(r.Name)})
		}
		out = append(out, row)
	}
	return out
}

// base returns the base URL in a region, with the parameters still in it.
func (p *preset) base(name string) string {
	base := p.Base
	for _, r := range p.Regions {
		if r.Name == name && r.Base != "" {
			base = r.Base
		}
	}
	return strings.ReplaceAll(base, "{region}", name)
}

func find(id hub.ProviderID) (*preset, error) {
	all := presets()
	i := slices.IndexFunc(all, func(p preset) bool { return p.ID == id })
	if i < 0 {
		names := make([]string, 0, len(all))
		for _, p := range all {
			names = append(names, string(p.ID))
		}
		return nil, hub.Errorf(hub.CodeProviderNotFound, "there is no preset %q", id).
			WithFix("use one of " + strings.Join(names, ", ") + "; custom is for every other server that speaks OpenAI's protocol")
	}
	return &all[i], nil
}

// target is a preset with everything filled in.
type target struct {
	hub.ProviderTarget
	preset  *preset
	catalog string // empty: the preset lists the models
	keyTest string // empty: the catalog has to prove the key
	headers map[string]string
}

// Resolve checks what the operator has chosen and says which servers are meant. Lookup
// returns the value of a variable, for parameters that were not given. Errors: invalid,
// provider_not_found.
func (*Client) Resolve(in hub.ProviderTarget, lookup func(string) string) (hub.ProviderTarget, error) {
	t, err := resolve(in, lookup)
	if err != nil {
		return hub.ProviderTarget{}, err
	}
	return t.ProviderTarget, nil
}

func resolve(in hub.ProviderTarget, lookup func(string) string) (*target, error) {
	p, err := find(in.ProviderID)
	if err != nil {
		return nil, err
	}
	t := &target{preset: p, headers: map[string]string{}}
	t.ProviderID, t.Region, t.Env, t.KeyOptional = p.ID, in.Region, p.Env, p.Key == "optional"
	if err := t.choose(in); err != nil {
		return nil, err
	}
	if t.Params, err = p.params(in.Params, lookup); err != nil {
		return nil, err
	}
	return t, t.fill()
}

// choose takes the region and the base URL.
func (t *target) choose(in hub.ProviderTarget) error {
	p := t.preset
	if p.ID == hub.ProviderCustom {
		if in.Region != "" {
			return hub.Invalid("region", "a custom provider has no regions").WithFix("leave the region out; the endpoint says where the server is")
		}
		return t.own(in.Endpoint)
	}
	if t.Region == "" {
		t.Region = p.DefaultRegion
	}
	if len(p.Regions) == 0 && in.Region != "" {
		return hub.Invalid("region", p.Label+" has no regions").WithFix("leave the region out")
	}
	if len(p.Regions) > 0 && !slices.ContainsFunc(p.Regions, func(r region) bool { return r.Name == t.Region }) {
		names := make([]string, len(p.Regions))
		for i, r := range p.Regions {
			names[i] = r.Name
		}
		return hub.Invalid("region", fmt.Sprintf("%s has no region %q", p.Label, in.Region)).WithFix("use one of " + strings.Join(names, ", "))
	}
	t.Endpoint = p.base(t.Region)
	if in.Endpoint != "" {
		return hub.Invalid("endpoint", "only a custom provider has an endpoint of your own").
			WithFix("leave the endpoint out, or use the preset custom")
	}
	return nil
}

// own checks the endpoint of a custom provider.
func (t *target) own(endpoint string) error {
	bad := func(why string) error {
		return hub.Invalid("endpoint", "the endpoint "+why).
			WithFix("give the base URL of a server that speaks OpenAI's protocol, such as https://llm.example.com/v1")
	}
	if endpoint == "" {
		return bad("is missing")
	}
	if len(endpoint) > hub.MaxEndpointBytes {
		return bad("is too long")
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return bad("is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("does not begin with http:// or https://")
	case u.Host == "" || u.Hostname() == "":
		return bad("names no server")
	case u.User != nil:
		return bad("holds a user name or a password")
	case u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(endpoint, "{}"):
		return bad("has more than a path after the server")
	}
	t.Endpoint = strings.TrimRight(endpoint, "/")
	return nil
}

// paramValue is what may stand in the name of a server: nothing in it leads elsewhere.
var paramValue = lazy.Regexp{Pattern: `^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`}

// params takes the parts of the addresses that only the user knows.
func (p *preset) params(given map[string]string, lookup func(string) string) (map[string]string, error) {
	out := map[string]string{}
	for name := range given {
		if !slices.ContainsFunc(p.Params, func(q hub.ProviderParam) bool { return q.Name == name }) {
			return nil, hub.Invalid("params", fmt.Sprintf("%s has no parameter %q", p.Label, name)).WithFix("leave it out")
		}
	}
	for _, q := range p.Params {
		value := given[q.Name]
		for i := 0; value == "" && i < len(q.Env) && lookup != nil; i++ {
			value = lookup(q.Env[i])
		}
		if !paramValue.MatchString(value) {
			why := fmt.Sprintf("%s needs the parameter %s", p.Label, q.Name)
			if value != "" {
				why = fmt.Sprintf("the parameter %s of %s may have letters, digits and hyphens alone", q.Name, p.Label)
			}
			return nil, hub.Invalid("params", why).
				WithFix("give " + q.Name + ", which is " + q.About + ", or set " + strings.Join(q.Env, " or ") + " in the environment of the hub")
		}
		out[q.Name] = value
	}
	return out, nil
}

// fill completes the addresses and says which servers get the key.
func (t *target) fill() error {
	pairs := []string{"{region}", t.Region}
	for name, value := range t.Params {
		pairs = append(pairs, "{"+name+"}", value)
	}
	t.Endpoint = strings.NewReplacer(pairs...).Replace(t.Endpoint)
	u, err := url.Parse(t.Endpoint)
	if err != nil {
		return hub.Invalid("endpoint", "the endpoint is no URL")
	}
	pairs = append(pairs, "{base}", t.Endpoint, "{origin}", u.Scheme+"://"+u.Host)
	expand := strings.NewReplacer(pairs...)
	if t.preset.Catalog != nil {
		t.catalog = expand.Replace(t.preset.Catalog.URL)
	}
	t.keyTest = expand.Replace(t.preset.KeyTest)
	for name, value := range t.preset.Headers {
		t.headers[name] = expand.Replace(value)
	}
	t.Origins = nil
	for _, address := range []string{t.Endpoint, t.catalog, t.keyTest} {
		if address == "" {
			continue
		}
		if u, err := url.Parse(address); err == nil {
			t.Origins = append(t.Origins, u.Scheme+"://"+strings.ToLower(u.Host))
		}
	}
	slices.Sort(t.Origins)
	t.Origins = slices.Compact(t.Origins)
	return nil
}

// onThisMachine reports whether a host is loopback.
func onThisMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// hostOf returns the name of a server without its port.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}
