package capsule

import (
	"bytes"
	"mime"
	"strings"
	"sync"
	"unicode/utf8"
)

// TextContent reports whether the bytes of an artifact are a text. A share_safe capsule has
// texts redacted and leaves other bytes out. A text is valid UTF-8 without the byte 0, of a content type that says so: text, or one of
// the formats of code and data that are written as text.
func TextContent(contentType string, data []byte) bool {
	return TextType(contentType) && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// TextType reports whether a content type says that something is a text.
func TextType(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	kind, name, _ := strings.Cut(media, "/")
	return kind == "text" || textFormats()[name[strings.LastIndex(name, "+")+1:]]
}

// textFormats are the names, or the suffixes of names, of formats that are written as text.
var textFormats = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"json": true, "xml": true, "yaml": true, "x-yaml": true, "toml": true, "javascript": true, "ecmascript": true,
		"x-javascript": true, "typescript": true, "x-sh": true, "x-shellscript": true, "sql": true, "graphql": true,
		"x-ndjson": true, "x-tex": true, "x-httpd-php": true, "x-python": true,
	}
})
