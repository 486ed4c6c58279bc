package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// maxAnswer is the most characters of one answer: structured content and text
// together. Harnesses warn about, cut or store away what is much longer.
const maxAnswer = 20_000

// maxLine bounds the one line that says what to do next.
const maxLine = 600

// answer is what a tool has to say.
type answer struct {
	data any    // an object; becomes structuredContent
	line string // one compact line: what happened and what to do next
	// text shows the words of others within a fence; empty: data shows all. A
	// lean answer has it in its structured content too, because some harnesses
	// show their model nothing else.
	text string
	// prose says that text and line tell all that a model needs: a lean answer
	// leaves out data.
	prose bool
	// untrusted names the members of data that hold what others have written.
	untrusted []string
	// picture is shown to the model beside the text; nil: there is none.
	picture     []byte
	pictureType string
	// ask is a question that the client asks its user before it repeats the call; the rest is empty then.
	ask *hub.Ask
}

// rendered is an answer as it is sent.
type rendered struct {
	line, text string
	data       json.RawMessage
}

// render encodes an answer. Every string in it is clean. The line is the member
// next too, for clients that show structured content alone. The text form has
// the line first and does not repeat it.
func (a *answer) render(verbose bool) (rendered, error) {
	encode := lean
	if verbose {
		encode = compact
	}
	var shown any = struct{}{}
	if !a.prose || verbose {
		shown = a.data
	}
	data, err := encode(shown)
	if err != nil {
		return rendered{}, err
	}
	data = peertext.ModelJSON(data)
	r := rendered{line: line(a.line), text: string(data)}
	switch {
	case a.text != "" && (verbose || len(data) <= len("{}")):
		r.text = a.text
	case a.text != "":
		r.text = string(data) + "\n" + a.text
	case len(data) <= len("{}"):
		r.text = ""
	}
	more := struct {
		Text      string   `json:"text,omitempty"`
		Untrusted []string `json:"untrusted_data,omitempty"`
		Next      string   `json:"next"`
	}{a.text, nil, r.line}
	if verbose {
		more.Text, more.Untrusted = "", a.untrusted
	}
	tail, err := compact(more)
	if err != nil {
		return rendered{}, err
	}
	if len(data) > len("{}") {
		r.data = append(append(data[:len(data)-1:len(data)-1], ','), tail[1:]...)
	} else {
		r.data = tail
	}
	return r, nil
}

// size counts the characters of an answer.
func (r *rendered) size() int {
	return utf8.RuneCountInString(r.line) + utf8.RuneCountInString(r.text) + utf8.RuneCount(r.data)
}

// compact is json.Marshal without the escapes that are for pages of HTML.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// size is how many characters v takes as it is sent.
func size(v any) int {
	b, err := compact(v)
	if err != nil {
		return maxAnswer
	}
	return utf8.RuneCount(peertext.ModelJSON(b))
}

// fit returns the answer that build makes in a room of so many characters for its
// rows and texts, for as much room as fits one answer: all of it is sent twice, as
// structured content and as text, and how much is added is known when it is
// rendered only.
func (c *call) fit(build func(room int) *answer) (*answer, error) {
	for room := maxAnswer / 2; room > 100; {
		a := build(room)
		r, err := a.render(c.verbose)
		if err != nil {
			return nil, err
		}
		have := r.size()
		if have <= maxAnswer {
			return a, nil
		}
		room = min(room*maxAnswer/have, room) * 9 / 10
	}
	return nil, hub.NewError(hub.CodeInternal, "the answer does not fit the limit of one call").
		WithFix("ask for less: a smaller limit, or one row by its id")
}

// success is an answer as the protocol has it: one line to read, the data, and
// the data once more for clients that show text alone.
func success(a *answer, verbose bool) (*sdk.CallToolResult, error) {
	r, err := a.render(verbose)
	if err != nil {
		return nil, err
	}
	content := []sdk.Content{&sdk.TextContent{Text: r.line}}
	if r.text != "" {
		content = append(content, &sdk.TextContent{Text: r.text})
	}
	if a.picture != nil {
		content = append(content, &sdk.ImageContent{Data: a.picture, MIMEType: a.pictureType})
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: r.data}, nil
}

// refused is an error as structured content.
type refused struct {
	Code       hub.Code        `json:"code"`
	Error      string          `json:"error"`
	Fix        string          `json:"fix"`
	RetryAfter int             `json:"retry_after,omitempty"` // seconds
	Detail     json.RawMessage `json:"detail,omitempty"`
}

// refusal is an error as the protocol has it: code, sentence, way out. Details that
// have no room are left out.
func refusal(err error) *sdk.CallToolResult {
	e := asError(err)
	r := refused{Code: e.Code, Error: line(e.Message), Fix: line(wayOut(e)), RetryAfter: e.RetryAfter}
	text := string(e.Code) + ": " + r.Error + "\nfix: " + r.Fix
	if e.Detail != nil {
		if b, err := compact(e.Detail); err == nil && utf8.RuneCount(peertext.ModelJSON(b)) <= maxAnswer/3 {
			r.Detail = peertext.ModelJSON(b)
			text += "\ndetail: " + string(r.Detail)
		}
	}
	data, err := compact(r)
	if err != nil {
		data = []byte(`{"code":"internal","error":"the error cannot be shown"}`)
	}
	return &sdk.CallToolResult{
		IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(data),
	}
}

// line is a text on one line of at most maxLine characters.
func line(s string) string {
	s = peertext.ModelLine(s)
	if part, _, whole := cut(s, 0, maxLine); !whole {
		s = part + "…"
	}
	return s
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
