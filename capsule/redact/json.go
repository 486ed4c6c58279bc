package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// errJSON is the refusal of a text that is no JSON, or that is nested too deeply.
var errJSON = errors.New("the text is no JSON, or is nested too deeply: redact it as text")

// maxLead bounds how much of a member's name says what its value is.
const maxLead = 128

// JSON returns a JSON text whose strings are redacted, names of members included. Everything
// else stays as it is, byte by byte. The name of a member says what its value is: the value
// of "password" is redacted like that of an assignment.
func (r *Redactor) JSON(raw []byte) ([]byte, error) {
	if !json.Valid(raw) {
		return nil, errJSON
	}
	w := &walk{r: r, raw: raw}
	w.out.Grow(len(raw))
	for w.at < len(raw) {
		w.step()
	}
	return w.out.Bytes(), nil
}

// A walk goes once over a valid JSON text, without recursion.
type walk struct {
	r      *Redactor
	raw    []byte
	at     int
	out    bytes.Buffer
	open   []byte // the brackets that are open
	leads  []string
	lead   string // of the next value
	isName bool   // the next string is the name of a member
}

func (w *walk) step() {
	b := w.raw[w.at]
	if b == '"' {
		w.text()
		return
	}
	switch b {
	case '{', '[':
		w.open, w.leads = append(w.open, b), append(w.leads, w.lead)
		if b == '{' {
			w.lead, w.isName = "", true
		} else {
			w.isName = false
		}
	case '}', ']':
		w.open, w.leads = w.open[:len(w.open)-1], w.leads[:len(w.leads)-1]
	case ',':
		inObject := w.open[len(w.open)-1] == '{'
		w.isName = inObject
		if !inObject {
			w.lead = w.leads[len(w.leads)-1] // each element of an array has the array's name
		}
	}
	w.out.WriteByte(b)
	w.at++
}

// text copies one string.
func (w *walk) text() {
	end := w.at + 1
	for w.raw[end] != '"' {
		if w.raw[end] == '\\' {
			end++
		}
		end++
	}
	end++
	quoted := w.raw[w.at:end]
	w.at = end
	var plain string
	if json.Unmarshal(quoted, &plain) != nil {
		plain = string(quoted)
	}
	lead := w.lead
	if w.isName {
		lead = ""
	}
	changed := w.r.within(lead, plain)
	if w.isName {
		w.lead, w.isName = leadOf(changed), false
	}
	if changed == plain {
		w.out.Write(quoted)
		return
	}
	w.out.Write(quote(changed))
}

// leadOf is how a member's name stands before its value.
func leadOf(name string) string {
	if len(name) > maxLead {
		name = name[len(name)-maxLead:]
	}
	return `"` + name + `": "`
}

// leadEnd stands after the value of a member.
const leadEnd = `"`

// quote writes a string as JSON, without the escapes that HTML wants.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return []byte(`""`)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
