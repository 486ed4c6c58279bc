package adapter

import (
	"path"
	"strings"
	"sync"
)

// World holds what the paths of configuration files depend on.
type World struct {
	GOOS     string // linux, darwin, windows
	Home     string // of the user, absolute
	DataRoot string // the hub's folder for this user
	Getenv   func(string) string
}

// A place is the path of a file or folder with what differs between machines
// named in front:
//
//	~/x          in the home folder
//	{config}/x   in the folder of the user's settings
//	{code}/x     in the user's folder of VS Code
//	$NAME/x      in the folder that the environment variable names; no place if it
//	             names none
//	./x          in the project
type place string

// bases are the folders that a place may name in braces.
var bases = sync.OnceValue(func() map[string]func(World) string {
	return map[string]func(World) string{
		"config": World.config,
		"data":   func(w World) string { return w.DataRoot },
		"code": func(w World) string {
			switch w.GOOS {
			case "windows":
				return w.join(w.roaming(), "Code", "User")
			case "darwin":
				return w.join(w.Home, "Library", "Application Support", "Code", "User")
			}
			return w.join(w.config(), "Code", "User")
		},
		"zed": func(w World) string {
			switch w.GOOS {
			case "windows":
				return w.join(w.roaming(), "Zed")
			case "darwin":
				return w.join(w.Home, ".config", "zed")
			}
			return w.join(w.config(), "zed")
		},
		"gemini": func(w World) string { // of the administrator
			switch w.GOOS {
			case "windows":
				return `C:\ProgramData\gemini-cli`
			case "darwin":
				return "/Library/Application Support/GeminiCli"
			}
			return "/etc/gemini-cli"
		},
		"crush": func(w World) string {
			if w.GOOS == "windows" {
				return w.join(w.variable("LOCALAPPDATA", w.join(w.Home, "AppData", "Local")), "crush")
			}
			return w.join(w.config(), "crush")
		},
		"goose": func(w World) string {
			if w.GOOS == "windows" {
				return w.join(w.roaming(), "Block", "goose")
			}
			return w.join(w.config(), "goose")
		},
	}
})

// config follows the convention of command line tools: XDG_CONFIG_HOME or
// ~/.config on every system.
func (w World) config() string {
	return w.variable("XDG_CONFIG_HOME", w.join(w.Home, ".config"))
}

func (w World) roaming() string {
	return w.variable("APPDATA", w.join(w.Home, "AppData", "Roaming"))
}

// variable returns the folder that an environment variable names, if it names an
// absolute one.
func (w World) variable(name, otherwise string) string {
	if v := w.Getenv(name); w.absolute(v) {
		return v
	}
	return otherwise
}

// absolute reports whether a path is absolute on the world's system.
func (w World) absolute(p string) bool {
	if w.GOOS != "windows" {
		return strings.HasPrefix(p, "/")
	}
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// join is filepath.Join for the world's system.
func (w World) join(parts ...string) string {
	if w.GOOS != "windows" {
		return path.Join(parts...)
	}
	share := strings.HasPrefix(parts[0], `\\`)
	joined := path.Join(strings.Split(strings.ReplaceAll(strings.Join(parts, "/"), `\`, "/"), "/")...)
	joined = strings.ReplaceAll(joined, "/", `\`)
	if share {
		joined = `\\` + joined
	}
	return joined
}

func (w World) separator() string {
	if w.GOOS == "windows" {
		return `\`
	}
	return "/"
}

// dir is filepath.Dir for the world's system.
func (w World) dir(p string) string {
	if i := strings.LastIndex(p, w.separator()); i > 0 {
		return p[:i]
	}
	return p
}

// resolve returns the path of a place and the folder that it must stay in: the
// home folder, the project, or the folder that an environment variable names.
// ok is false if there is no such place.
func (w World) resolve(p place, project string) (at, root string, ok bool) {
	head, rest, _ := strings.Cut(string(p), "/")
	base := ""
	switch {
	case head == "~":
		base = w.Home
	case head == ".":
		base = project
	case strings.HasPrefix(head, "$"):
		base = w.variable(head[1:], "")
	case strings.HasPrefix(head, "{"):
		base = bases()[strings.Trim(head, "{}")](w)
	}
	if base == "" {
		return "", "", false
	}
	root = base
	if head != "." && w.within(base, w.Home) {
		root = w.Home
	}
	return w.join(base, rest), root, true
}

// within reports whether a path is a folder or lies in it.
func (w World) within(p, folder string) bool {
	p, folder = w.join(p), w.join(folder)
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, w.separator())+w.separator())
}

// choose returns the path of the place that a harness reads, and the folder
// that it must stay in. It prefers a place that an environment variable names,
// then the first that exists, then the first whose folder exists, then the
// first.
func (w World) choose(places []place, project string, exists func(string) bool) (at, root string) {
	type spot struct{ at, root string }
	var found []spot
	for _, p := range places {
		at, root, ok := w.resolve(p, project)
		if !ok {
			continue
		}
		if strings.HasPrefix(string(p), "$") {
			return at, root
		}
		found = append(found, spot{at, root})
	}
	for _, look := range []func(string) string{func(p string) string { return p }, w.dir} {
		for _, s := range found {
			if exists(look(s.at)) {
				return s.at, s.root
			}
		}
	}
	if len(found) == 0 {
		return "", ""
	}
	return found[0].at, found[0].root
}
