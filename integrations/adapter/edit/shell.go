package edit

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// shellDoc is a script of a POSIX shell with a block between two comments:
//
//	#!/bin/sh
//	# BEGIN name
//	…
//	# END name
//
// The block stands at the beginning, because what follows may end the script.
type shellDoc struct {
	*markdownDoc
	first int // where the first line ends that names the shell; 0: there is none
}

// shells are the shells that understand a POSIX script. A script that names no
// interpreter is run by one of them.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}

// shebang begins a document that Insert makes.
const shebang = "#!/bin/sh\n"

func openShell(doc []byte, at Pointer) (editor, error) {
	first := 0
	if bytes.HasPrefix(doc, []byte("#!")) {
		if first = bytes.IndexByte(doc, '\n') + 1; first == 0 {
			first = len(doc)
		}
		if line := string(bytes.TrimSpace(doc[2:first])); !slices.Contains(shells, interpreter(line)) {
			return nil, refuseAt(doc, 0, Unsupported, "the script is for another program than a shell: %s", line)
		}
	}
	m, err := openBlock(doc, at, "# BEGIN ", "# END ", "")
	if err != nil {
		return nil, err
	}
	if first > 0 { // that line is nobody's entry
		rest, _ := m.content[restKey].([]any)
		m.content[restKey] = append([]any(nil), rest[1:]...)
	}
	return &shellDoc{m, first}, nil
}

// interpreter returns the name of the program that a first line names.
func interpreter(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if i > 0 && (strings.HasPrefix(word, "-") || strings.Contains(word, "=")) {
			continue // of env
		}
		if name := path.Base(word); name != "env" {
			return name
		}
	}
	return ""
}

func (d *shellDoc) insert(v *entry) ([]byte, Trace, error) {
	text, err := d.text(v)
	if err != nil {
		return nil, Trace{}, err
	}
	eol := styleOf(d.doc).eol
	if len(d.doc) == 0 {
		return []byte(shebang + text + eol), Trace{Parents: 1}, nil
	}
	lead := ""
	if d.first > 0 && d.doc[d.first-1] != '\n' {
		lead = eol
	}
	return apply(d.doc, splice{d.first, d.first, lead + text + eol}), Trace{Space: lead}, nil
}

func (d *shellDoc) remove(trace Trace) ([]byte, error) {
	end := len(d.doc)
	if i := bytes.IndexByte(d.doc[d.block.end:], '\n'); i >= 0 {
		end = d.block.end + i + 1
	}
	out := apply(d.doc, splice{d.block.start, end, ""})
	if d.first == len(out) { // nothing stands behind the first line, which may have had no end
		out = bytes.TrimSuffix(out, []byte(trace.Space))
	}
	if trace.Parents > 0 && string(out) == shebang {
		return []byte{}, nil
	}
	return out, nil
}
