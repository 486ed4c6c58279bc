package replayfile

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"hubcli/internal/peertext"
)

// The viewer, as the folder web gives it.
var (
	//go:embed dist/viewer.js
	script []byte
	//go:embed dist/viewer.css
	style []byte
)

// Write writes the replay as one HTML file. Its policy names the script and the style by what
// they are, and allows nothing else: no other script, no address, no frame, no form. The
// messages are written one by one: no second copy of them is made.
func (r *Replay) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript. It asks no host for anything.</noscript></div>
<script type="application/json" id="replay">`, sum(script), sum(style), html.EscapeString(peertext.ModelLine(r.Name)), style)
	if err == nil {
		err = r.writeData(w)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, `</script>
<script>%s</script>
</body>
</html>
`, script)
	}
	return err
}

// writeData writes the replay as JSON without any sign of markup: what agents wrote is in it as
// they wrote it, and these signs have the form \u003c.
func (r *Replay) writeData(w io.Writer) error {
	var part bytes.Buffer
	e := json.NewEncoder(&part)
	e.SetEscapeHTML(true) // texts of agents stand in a page
	if err := e.Encode(r); err != nil {
		return err
	}
	part.Truncate(bytes.LastIndexByte(part.Bytes(), '}')) // the messages are its last member
	part.WriteString(`,"messages":[`)
	for i, m := range r.Messages {
		if i > 0 {
			part.WriteByte(',')
		}
		json.HTMLEscape(&part, m)
		if _, err := part.WriteTo(w); err != nil {
			return err
		}
	}
	part.WriteString("]}")
	_, err := part.WriteTo(w)
	return err
}

func sum(text []byte) string {
	of := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(of[:])
}
