package provider

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
)

// TestTheTableIsSound: every row has a source and a day, a dialect that there is, addresses
// with TLS or on this machine, and nothing twice.
func TestTheTableIsSound(t *testing.T) {
	if n := len(presets()); n < 26 {
		t.Errorf("the table has %d rows", n)
	}
	ids := map[hub.ProviderID]bool{}
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	for i := range presets() {
		p := &presets()[i]
		if ids[p.ID] {
			t.Errorf("%s stands twice", p.ID)
		}
		ids[p.ID] = true
		if p.Source == "" || p.Label == "" {
			t.Errorf("%s has no source or no label", p.ID)
		}
		if _, err := time.Parse(time.DateOnly, p.Checked); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if p.Key != "required" && p.Key != "optional" || p.Auth == "" {
			t.Errorf("%s: key %q, auth %q", p.ID, p.Key, p.Auth)
		}
		for _, v := range p.Env {
			if !name.MatchString(v) {
				t.Errorf("%s: %q is no name of a variable", p.ID, v)
			}
		}
		if (p.Catalog == nil) != (len(p.Static) > 0) {
			t.Errorf("%s: either the provider or the row lists the models", p.ID)
		}
		if p.Catalog == nil && p.KeyTest == "" {
			t.Errorf("%s: nothing can prove its key", p.ID)
		}
		if p.Catalog != nil {
			if _, ok := shapes()[p.Catalog.Dialect]; !ok {
				t.Errorf("%s: there is no dialect %q", p.ID, p.Catalog.Dialect)
			}
		}
		if len(p.Regions) > 0 && !slices.ContainsFunc(p.Regions, func(r region) bool { return r.Name == p.DefaultRegion }) {
			t.Errorf("%s: its default region %q is none of its regions", p.ID, p.DefaultRegion)
		}
		if p.ID != hub.ProviderCustom {
			checkAddresses(t, p)
		}
	}
	if len(shapes()) != 7 {
		t.Errorf("there are %d dialects", len(shapes()))
	}
}

// checkAddresses resolves a preset in all of its regions.
func checkAddresses(t *testing.T, p *preset) {
	t.Helper()
	regions := p.Regions
	if len(regions) == 0 {
		regions = []region{{}}
	}
	for _, r := range regions {
		got, err := resolve(hub.ProviderTarget{ProviderID: p.ID, Region: r.Name}, func(string) string { return "acme" })
		if err != nil {
			t.Errorf("%s %s: %v", p.ID, r.Name, err)
			continue
		}
		for _, address := range []string{got.Endpoint, got.catalog, got.keyTest} {
			u, err := url.Parse(address)
			if err != nil || strings.ContainsAny(address, "{}") || address != "" && u.Scheme != "https" && !onThisMachine(u.Hostname()) {
				t.Errorf("%s %s: %q is no address that a key may go to", p.ID, r.Name, address)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	env := func(name string) string { return map[string]string{"AZURE_RESOURCE_NAME": "acme"}[name] }
	for _, c := range []struct {
		name     string
		in       hub.ProviderTarget
		endpoint string // empty: refused
		field    string
	}{
		{"the default region", hub.ProviderTarget{ProviderID: "openai"}, "https://api.openai.com/v1", ""},
		{"a region", hub.ProviderTarget{ProviderID: "openai", Region: "eu"}, "https://eu.api.openai.com/v1", ""},
		{"no such region", hub.ProviderTarget{ProviderID: "openai", Region: "moon"}, "", "region"},
		{"no regions", hub.ProviderTarget{ProviderID: "groq", Region: "eu"}, "", "region"},
		{"a region in the name", hub.ProviderTarget{ProviderID: "bedrock", Region: "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", ""},
		{"no such provider", hub.ProviderTarget{ProviderID: "oai"}, "", ""},
		{"a parameter of the environment", hub.ProviderTarget{ProviderID: "azure-openai"}, "https://acme.openai.azure.com/openai/v1", ""},
		{"a parameter", hub.ProviderTarget{ProviderID: "azure-openai", Params: map[string]string{"resource": "b-2"}}, "https://b-2.openai.azure.com/openai/v1", ""},
		{"a parameter that leads elsewhere", hub.ProviderTarget{ProviderID: "azure-openai", Params: map[string]string{"resource": "evil.example/"}}, "", "params"},
		{"no such parameter", hub.ProviderTarget{ProviderID: "openai", Params: map[string]string{"x": "y"}}, "", "params"},
		{"a missing parameter", hub.ProviderTarget{ProviderID: "vertex"}, "", "params"},
		{"an endpoint of another", hub.ProviderTarget{ProviderID: "openai", Endpoint: "https://x.example"}, "", "endpoint"},
		{"custom", hub.ProviderTarget{ProviderID: "custom", Endpoint: "https://llm.example/v1/"}, "https://llm.example/v1", ""},
		{"custom without one", hub.ProviderTarget{ProviderID: "custom"}, "", "endpoint"},
		{"custom with a region", hub.ProviderTarget{ProviderID: "custom", Endpoint: "https://x.example", Region: "eu"}, "", "region"},
		{"custom with a password", hub.ProviderTarget{ProviderID: "custom", Endpoint: "https://a:b@x.example"}, "", "endpoint"},
		{"custom with a question", hub.ProviderTarget{ProviderID: "custom", Endpoint: "https://x.example/?key=1"}, "", "endpoint"},
		{"custom of a file", hub.ProviderTarget{ProviderID: "custom", Endpoint: "file:///etc/passwd"}, "", "endpoint"},
		{"custom without a server", hub.ProviderTarget{ProviderID: "custom", Endpoint: "https:///v1"}, "", "endpoint"},
	} {
		got, err := new(Client).Resolve(c.in, env)
		e, _ := err.(*hub.Error) //nolint:errorlint // the package returns it as it is
		switch {
		case c.endpoint != "" && (err != nil || got.Endpoint != c.endpoint):
			t.Errorf("%s: %q %v", c.name, got.Endpoint, err)
		case c.endpoint == "" && (e == nil || e.FixFor(hub.ForCLI) == "" || c.field != "" && e.Detail["field"] != c.field):
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

// TestOrigins: the servers that get the key are all that the row names.
func TestOrigins(t *testing.T) {
	for id, want := range map[hub.ProviderID]string{
		"openai":      "https://api.openai.com",
		"huggingface": "https://huggingface.co https://router.huggingface.co",
		"bedrock":     "https://bedrock-runtime.us-east-1.amazonaws.com https://bedrock.us-east-1.amazonaws.com",
	} {
		got, err := new(Client).Resolve(hub.ProviderTarget{ProviderID: id}, nil)
		if err != nil || got.Origin() != want {
			t.Errorf("%s: %q %v", id, got.Origin(), err)
		}
	}
}
