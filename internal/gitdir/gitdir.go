// Package gitdir finds out what a folder is to Git: the root of a work tree, a bare repository,
// or neither. It reads small files, whose content it does not trust, and never runs git.
package gitdir

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hubcli/internal/osfile"
)

// maxPointer is the size of the largest file that is read, in bytes: a path and a
// few words.
const maxPointer = 8 << 10

// WorkTree reports whether folder is the root of a git work tree, and returns
// the folder that all work trees of its repository have in common. An invalid
// .git counts as absent.
func WorkTree(folder string) (common string, ok bool) {
	dot := filepath.Join(folder, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return "", false
	}
	git := dot
	if !info.IsDir() {
		if git, ok = pointer(dot, "gitdir:", folder); !ok {
			return "", false
		}
	}
	if head, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil || head.IsDir() {
		return "", false
	}
	common = git
	if named, linked := pointer(filepath.Join(git, "commondir"), "", git); linked {
		common = named
	}
	common, err = filepath.EvalSymlinks(common)
	if err != nil || !utf8.ValidString(common) {
		return "", false
	}
	return common, isFolder(filepath.Join(common, "objects"))
}

// Bare reports whether folder is itself a repository without files to work on.
func Bare(folder string) bool {
	head, err := os.Lstat(filepath.Join(folder, "HEAD"))
	return err == nil && !head.IsDir() && filepath.Base(folder) != ".git" &&
		isFolder(filepath.Join(folder, "objects")) && isFolder(filepath.Join(folder, "refs"))
}

// Submodule reports whether the folder that work trees have in common is kept inside another
// repository, as that of a submodule is.
func Submodule(common string) bool {
	return strings.Contains(filepath.ToSlash(common)+"/", "/.git/modules/")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// pointer reads a file of one line that names a path, which may be relative to
// base, behind a prefix.
func pointer(file, prefix, base string) (string, bool) {
	text, err := osfile.ReadSmallLinked(file, maxPointer)
	if err != nil {
		return "", false
	}
	line, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if prefix != "" {
		line = strings.TrimLeft(line, " ")
	}
	if !ok || line == "" || strings.ContainsAny(line, "\x00\r\n") {
		return "", false
	}
	path := filepath.FromSlash(line)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), true
}
