package hook

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Staged asks Git which files the commit would change in the repository of a folder: the
// top of the work tree, and the names from there. A renamed file has both names. Git's own
// variables, which it sets for its hooks, name the index that it is about to commit.
func Staged(dir string) func(context.Context) (top string, files []string, err error) {
	return func(ctx context.Context) (string, []string, error) {
		top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
		if err != nil {
			return "", nil, err
		}
		names, err := git(ctx, dir, "diff", "--cached", "--name-only", "--no-renames", "-z")
		if err != nil {
			return "", nil, err
		}
		files := strings.Split(names, "\x00")
		return strings.TrimRight(top, "\r\n"), files[:len(files)-1], nil
	}
}

// git runs Git. Its error has nothing of what Git says, which may name files.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout = dir, &out
	if err := cmd.Run(); err != nil {
		return "", quiet(fmt.Sprintf("git %s fails: %v", args[0], err))
	}
	return out.String(), nil
}
