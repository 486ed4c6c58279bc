package edit

import (
	"bytes"
	"encoding/json"
	"errors"
)

// CheckStrict says where a document first holds what JSON itself does not know, such as a
// comment or a trailing comma. Insert accepts those, and some harnesses do not.
func CheckStrict(doc []byte) error {
	base := 0
	if bytes.HasPrefix(doc, bom) {
		base = len(bom)
	}
	text := doc[base:]
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var any json.RawMessage
	err := json.Unmarshal(text, &any)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The offset is behind the character that is wrong.
		return refuseAt(doc, base+int(bad.Offset)-1, Unparsable, "there is a comment, a trailing comma or something else that is no JSON")
	}
	return err
}
