package gitdir

import (
	"net/url"
	"path/filepath"
	"strings"

	"hubcli/internal/osfile"
)

// maxConfig is the size of the largest configuration that is read, in bytes.
const maxConfig = 256 << 10

// Remote returns what the remote origin of a repository leads to, else its first remote, in a
// form that is the same for all ways to write one address. It is empty if there is none. It may
// be compared and not be shown: it is the text of a stranger.
func Remote(common string) string {
	text, err := osfile.ReadSmallLinked(filepath.Join(common, "config"), maxConfig)
	if err != nil {
		return ""
	}
	first, remote := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			remote = ""
			if name, ok := strings.CutPrefix(line, `[remote "`); ok {
				remote, _, _ = strings.Cut(name, `"`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || remote == "" || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		address := sameAddress(strings.Trim(strings.TrimSpace(value), `"`))
		if remote == "origin" {
			return address
		}
		if first == "" {
			first = address
		}
	}
	return first
}

// sameAddress writes an address of a repository as host/path: without the scheme, the user, the
// port, and what people add at the end. A path of this machine stays as it is.
func sameAddress(address string) string {
	host, path := "", address
	switch u, err := url.Parse(address); {
	case err == nil && u.Scheme != "" && u.Host != "":
		host, path = u.Hostname(), u.Path
	case strings.HasPrefix(address, "/") || strings.HasPrefix(address, "."):
	default: // user@host:path
		before, after, ok := strings.Cut(address, ":")
		if !ok || strings.Contains(before, "/") {
			break
		}
		host, path = before[strings.LastIndex(before, "@")+1:], "/"+strings.TrimPrefix(after, "/")
	}
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), ".git")
	return strings.ToLower(host) + path
}
