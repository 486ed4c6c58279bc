package homeroom

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/gitdir"
)

// Folder is a folder for which a room can be made.
type Folder struct {
	Top    string // its path without links
	Name   string // of the project and the room
	Common string // the folder that the work trees of its repository have in common; empty: it is in none
	remote string // see gitdir.Remote
}

// Refusal says in a sentence why no room is made, and what a person does about it.
type Refusal struct {
	Why, Fix string
	// NoRepository: the folder is in no repository, so a person has to say that it is meant itself.
	NoRepository bool
}

func (r *Refusal) Error() string { return r.Why }

const byHand = "go to the folder in which you work and call hubcli init there; a room that is bound by hand is also possible: hubcli room bind ROOM FOLDER --yes"

// Find returns the folder of the repository that path is in. A submodule belongs to the
// repository around it. Errors: *Refusal.
func Find(path string, w *Wide) (Folder, error) {
	start, err := realFolder(path)
	if err != nil {
		return Folder{}, err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		common, ok := gitdir.WorkTree(dir)
		switch {
		case ok && !gitdir.Submodule(common):
			return w.checked(repository(dir, common))
		case ok:
		case brokenPointer(dir):
			return Folder{}, &Refusal{
				Why: dir + " is a work tree whose repository is not where its file .git says",
				Fix: "bring the repository back or call git worktree repair there; then call hubcli init again",
			}
		case gitdir.Bare(dir):
			return Folder{}, &Refusal{
				Why: dir + " is a bare repository: nobody edits files in it",
				Fix: "call hubcli init in one of its work trees (git worktree list shows them)",
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if why := w.Why(start); why != "" { // what hubcli init --here refuses is not offered
		return Folder{}, &Refusal{Why: start + " is " + why, Fix: byHand}
	}
	return Folder{}, &Refusal{Why: start + " is in no Git repository", Fix: "if this folder itself is meant, call: hubcli init --here", NoRepository: true}
}

// Here returns the folder at a path itself. Errors: *Refusal.
func Here(path string, w *Wide) (Folder, error) {
	dir, err := realFolder(path)
	if err != nil {
		return Folder{}, err
	}
	f := Folder{Top: dir, Name: nameOf(dir)}
	if common, ok := gitdir.WorkTree(dir); ok {
		f.Common, f.remote = common, gitdir.Remote(common)
	}
	return w.checked(f)
}

// repository is the folder of a repository one of whose work trees is at dir: the main work tree,
// if it is there.
func repository(dir, common string) Folder {
	f := Folder{Top: dir, Common: common, remote: gitdir.Remote(common)}
	name := dir
	if main, ok := strings.CutSuffix(common, string(filepath.Separator)+".git"); ok {
		name = main
		if of, ok := gitdir.WorkTree(main); ok && of == common {
			f.Top = main
		}
	} else if gitdir.Bare(common) {
		name = strings.TrimSuffix(common, ".git")
	}
	f.Name = nameOf(name)
	return f
}

// isID reports whether references take a text for the id of a project or a room.
func isID(text string) bool {
	text = strings.ToLower(text)
	project, ok := strings.CutPrefix(text, "p_")
	return hub.IsRoomID(text) || ok && hub.IsRoomID("r_"+project)
}

// nameOf makes the name of a project of that of a folder.
func nameOf(path string) string {
	name := strings.TrimSpace(filepath.Base(path))
	if isID(name) || strings.Contains(name, "/") || hub.CheckVisible("name", name) != nil {
		name = strings.TrimSpace("folder " + strings.ReplaceAll(name, "/", " "))
	}
	for utf8.RuneCountInString(name) > hub.MaxNameChars-roomForNumber {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// roomForNumber is what a number behind a name may take, in characters.
const roomForNumber = 4

// brokenPointer reports whether a folder has the .git of a work tree that leads nowhere. A folder
// .git that is no repository is none to Git either.
func brokenPointer(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil && info.Mode().IsRegular()
}

// realFolder returns the path of an existing folder without links, which the hub can keep.
func realFolder(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(path)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	info, statErr := os.Stat(dir)
	switch {
	case err != nil || statErr != nil || !info.IsDir():
		return "", &Refusal{Why: strconv.Quote(path) + " is no folder", Fix: "name a folder that exists"}
	case !utf8.ValidString(dir) || strings.ContainsFunc(dir, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "", &Refusal{Why: "the path " + strconv.Quote(dir) + " has a control character, or is not UTF-8: the hub keeps no such path", Fix: "rename the folder, or bind one above it: hubcli room bind ROOM FOLDER"}
	case len(dir) > hub.MaxPathBytes:
		return "", &Refusal{Why: "the path of the folder is longer than " + strconv.Itoa(hub.MaxPathBytes) + " bytes", Fix: "bind a folder above it: hubcli room bind ROOM FOLDER"}
	}
	return dir, nil
}

// Wide knows the folders in which too much lies for one room: every agent of the machine would be
// in it.
type Wide struct{ homes, temporary []string }

// WideOf returns those of a user with this environment.
func WideOf(getenv func(string) string) *Wide {
	w := &Wide{}
	homes := []string{getenv("HOME"), getenv("USERPROFILE")}
	if u, err := user.Current(); err == nil {
		homes = append(homes, u.HomeDir)
	}
	for _, dir := range homes {
		w.homes = withReal(w.homes, dir)
	}
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} {
		w.temporary = withReal(w.temporary, getenv(name))
	}
	if len(w.temporary) == 0 {
		w.temporary = withReal(nil, os.TempDir())
	}
	return w
}

// withReal adds an absolute path as it is and without links.
func withReal(paths []string, dir string) []string {
	if !filepath.IsAbs(dir) {
		return paths
	}
	paths = append(paths, filepath.Clean(dir))
	if plain, err := filepath.EvalSymlinks(dir); err == nil {
		paths = append(paths, plain)
	}
	return paths
}

// Why says what makes a folder too wide: "the home folder" and the like. It is empty for any other.
func (w *Wide) Why(dir string) string {
	if dir == filepath.Dir(dir) {
		return "the root of the file system"
	}
	for _, home := range w.homes {
		switch {
		case dir == home:
			return "a home folder"
		case below(home, dir):
			return "a folder with home folders in it"
		}
	}
	switch filepath.ToSlash(dir) {
	case "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp":
		return "a folder for temporary files"
	}
	for _, temporary := range w.temporary {
		if dir == temporary {
			return "a folder for temporary files"
		}
	}
	return ""
}

// checked refuses a folder that is too wide, and one that lies among temporary files: it will be gone.
func (w *Wide) checked(f Folder) (Folder, error) {
	why := w.Why(f.Top)
	for _, temporary := range w.temporary {
		if why == "" && below(f.Top, temporary) {
			why = "in a folder for temporary files"
		}
	}
	if why != "" {
		return Folder{}, &Refusal{Why: f.Top + " is " + why + ", for which no room is made", Fix: byHand}
	}
	return f, nil
}

// below reports whether a path lies below another.
func below(path, above string) bool {
	rel, err := filepath.Rel(above, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
