package provider

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"

	"hubcli/hub"
)

// dialect is a way in which providers list their models.
type dialect string

// shape says where a dialect has its list and its pages.
type shape struct {
	list  string   // name of the list; empty: the answer itself is the list
	ids   []string // names of the id, the first that is there counts
	next  string   // name of the place of the next page; empty: there is one page
	more  string   // name of the flag that says whether there is a next page; empty: a place says so
	param string   // parameter that takes the place
}

// shapes are the dialects.
var shapes = sync.OnceValue(func() map[dialect]shape {
	return map[dialect]shape{
		"openai":    {list: "data", ids: []string{"id"}},
		"array":     {ids: []string{"id"}},
		"anthropic": {list: "data", ids: []string{"id"}, next: "last_id", more: "has_more", param: "after_id"},
		"gemini":    {list: "models", ids: []string{"name"}, next: "nextPageToken", param: "pageToken"},
		"cohere":    {list: "models", ids: []string{"name"}, next: "next_page_token", param: "page_token"},
		"bedrock":   {list: "modelSummaries", ids: []string{"modelId"}},
		"ollama":    {list: "models", ids: []string{"model", "name"}},
	}
})

// errNoList is an answer that is JSON and no list of models.
var errNoList = errors.New("the answer is no list of models")

// page reads one page: its models, and the place of the next page.
func (c *catalog) page(body []byte) (models []hub.ProviderModel, next string, err error) {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var answer any
	if err := d.Decode(&answer); err != nil {
		return nil, "", err
	}
	s := shapes()[c.Dialect]
	if c.List != "" {
		s.list = c.List
	}
	members, _ := answer.(map[string]any)
	list, isList := answer.([]any)
	if s.list != "" && !(isList && c.Dialect == "openai") { // some servers of that dialect answer the list alone
		list, isList = members[s.list].([]any)
		// A list without members is left out by some servers.
		isList = isList || members != nil && members[s.list] == nil && s.next != "" && len(members) == 0
	}
	if !isList {
		return nil, "", errNoList
	}
	for _, entry := range list {
		if row, ok := entry.(map[string]any); ok {
			if m, ok := c.model(s, row); ok {
				models = append(models, m)
			}
		}
	}
	if s.next != "" {
		next = text(members, s.next)
	}
	if more, ok := members[s.more].(bool); s.more != "" && (!ok || !more) {
		next = ""
	}
	return models, next, nil
}

// model reads one entry of a list.
func (c *catalog) model(s shape, row map[string]any) (hub.ProviderModel, bool) {
	if active, ok := row["active"].(bool); ok && !active {
		return hub.ProviderModel{}, false
	}
	m := hub.ProviderModel{ModelID: strings.TrimPrefix(text(row, s.ids...), c.Strip)}
	if m.ModelID == "" || len(m.ModelID) > hub.MaxProviderModelBytes || strings.ContainsFunc(m.ModelID, control) {
		return hub.ProviderModel{}, false
	}
	m.Name = text(row, "display_name", "displayName", "modelName", "friendly_name")
	if name := text(row, "name"); m.Name == "" && s.ids[0] == "id" {
		m.Name = name
	}
	if m.Name == m.ModelID || len(m.Name) > hub.MaxProviderModelBytes || strings.ContainsFunc(m.Name, control) {
		m.Name = ""
	}
	m.ContextTokens = number(row, "context_length", "context_window", "max_context_length", "max_input_tokens", "inputTokenLimit",
		"max_prompt_length", "contextLength", "max_model_len", "limits.max_context_length", "limits.max_input_tokens", "top_provider.context_length")
	for _, host := range hosts(row) {
		if served := number(host, "context_length"); number(row, "context_length") == 0 {
			m.ContextTokens = max(m.ContextTokens, served)
		}
	}
	m.OutputTokens = number(row, "max_output_tokens", "outputTokenLimit", "max_output_length", "max_completion_tokens",
		"top_provider.max_completion_tokens", "limits.max_output_tokens")
	if m.OutputTokens == 0 && c.Dialect == "anthropic" {
		m.OutputTokens = number(row, "max_tokens")
	}
	m.Price = price(row)
	return m, true
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// hosts are the companies that serve a model of a marketplace.
func hosts(row map[string]any) (out []map[string]any) {
	all, _ := row["providers"].([]any)
	for _, h := range all {
		if h, ok := h.(map[string]any); ok {
			out = append(out, h)
		}
	}
	return out
}

// price reads what a model costs, in the three ways in which providers tell it.
func price(row map[string]any) *hub.ProviderPrice {
	for _, from := range append([]map[string]any{row}, hosts(row)...) {
		told, _ := from["pricing"].(map[string]any)
		if p := perMillion(told, "prompt", "completion", 1e6); p != nil { // dollars for a token
			return p
		}
		if p := perMillion(told, "input", "output", 1); p != nil { // dollars for a million
			return p
		}
	}
	return perMillion(row, "prompt_text_token_price", "completion_text_token_price", 1.0/10_000) // 1/10,000 dollars for a million
}

func perMillion(row map[string]any, input, output string, factor float64) *hub.ProviderPrice {
	in, ok := decimal(row[input])
	out, also := decimal(row[output])
	if !ok || !also {
		return nil
	}
	round := func(v float64) float64 { return math.Round(v*factor*1e6) / 1e6 }
	return &hub.ProviderPrice{Input: round(in), Output: round(out), Currency: "USD"}
}

// decimal reads a number that may be written as a text.
func decimal(v any) (float64, bool) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = v
	default:
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= 0 && f < 1e9
}

// text returns the first of the named members that is a text.
func text(row map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := row[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// number returns the first of the named members that is a positive whole number. A dot
// leads into a member.
func number(row map[string]any, names ...string) int64 {
	for _, name := range names {
		from := row
		if outer, inner, ok := strings.Cut(name, "."); ok {
			from, _ = row[outer].(map[string]any)
			name = inner
		}
		if f, ok := decimal(from[name]); ok && f >= 1 {
			return int64(f)
		}
	}
	return 0
}
