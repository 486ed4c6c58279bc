package core

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hubcli/hub"
)

// EncodeFact renders a fact for the journal.
func EncodeFact(f Fact) EncodedFact {
	return EncodedFact{Type: f.FactType(), Data: mustJSON(f)}
}

// mustJSON encodes this package's own structs, which cannot fail. It does not
// escape characters, so that metadata comes back byte for byte.
func mustJSON(v any) []byte {
	if a, ok := v.(hub.JSONAppender); ok {
		return a.AppendJSON(nil)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("core: %T does not encode: %v", v, err))
	}
	return b.Bytes()[:b.Len()-1] // without the newline
}

// CheckVersion refuses a stored version outside 1 to latest, which this program
// cannot read.
func CheckVersion(what string, version, latest uint16) error {
	if version < 1 {
		return fmt.Errorf("core: %s have no version", what)
	}
	if version > latest {
		return errLaterVersion(fmt.Sprintf("%s of version %d are not known", what, version))
	}
	return nil
}

// ErrUnknownOwner is the error for a record of an owner of a kind that this program does not
// know.
func ErrUnknownOwner(k Owner) error {
	return errLaterVersion(fmt.Sprintf("owner kind %d is not known", uint8(k.Kind)))
}

// errLaterVersion is the error for data that only a later version can have
// written.
func errLaterVersion(what string) error {
	return fmt.Errorf("core: %s; the store was written by a later version of hubcli: use that one, or an earlier copy of the store", what)
}
