package adapter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
	"hubcli/integrations/adapter/files"
	"hubcli/internal/osfile"
)

// gitRow is no program in which agents run: a repository whose commits meet the locks of
// agents, whoever commits. It is not looked for, because each repository is a choice.
func gitRow() row {
	return row{
		harness: hub.HarnessGit,
		project: &setup{
			hooks:     []piece{gitHook},
			repo:      true,
			lacking:   lacks("mcp", noAgents, "instructions", noAgents),
			followUps: []string{`say what a commit of a locked file means in the room: "hubcli room locks <room> warn" or "refuse"`},
		},
	}
}

const noAgents = "no agent runs in Git"

// gitHook is a block in the script that Git runs before a commit. Where the executable is
// gone, commits pass.
var gitHook = piece{
	places: []place{".git/hooks/pre-commit"}, format: edit.Shell, keys: []string{blockName}, mode: 0o755,
	value: func(e Entry) any {
		return "# Says which files of this commit a colleague has locked. To take it out: hubcli adapter uninstall git\n" +
			"if test -x " + e.argument(e.Command) + "; then\n" +
			"\t" + e.commitHook() + commitRefused + "\n" +
			"fi"
	},
}

// sharedHook is the same block for a script that Git gives to other people: it names nothing
// of this machine. Each person's own hubcli finds its own hub.
func sharedHook(Entry) any {
	return "# Says which files of this commit a colleague has locked; does nothing where hubcli is not on PATH.\n" +
		"# To take it out: hubcli adapter uninstall git\n" +
		"if command -v hubcli >/dev/null 2>&1; then\n" +
		"\t" + sharedLine + commitRefused + "\n" +
		"fi"
}

const sharedLine = "hubcli hook " + string(eventCommit)

// commitRefused follows the command in the script.
const commitRefused = " || exit 1"

// commitHook returns the line that calls the hook, for the shell that Git brings on every
// system.
func (e Entry) commitHook() string {
	line := e.argument(e.Command) + " hook " + string(eventCommit)
	if e.BaseURL != "" {
		line += " --base-url " + e.BaseURL
	}
	if e.DataRoot != "" {
		line += " --data-root " + e.argument(e.DataRoot)
	}
	return line
}

// gitLimit bounds a question to Git.
const gitLimit = 2 * time.Second

// inRepository returns the pieces of a repository, where its own Git runs its hooks: in a
// worktree these lie with the main one, and core.hooksPath moves them. Folders outside of
// the repository are refused: other repositories may use them too.
func (a *Adapters) inRepository(pieces []piece, project string) ([]piece, error) {
	top, err := a.askGit(project, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, &files.Refusal{
			Reason: files.Refused, Message: "Git knows no repository in " + project, Err: err,
			Fix: "give the path of a repository with a work tree, and see that git is installed",
		}
	}
	if top = osfile.RealPath(filepath.FromSlash(top)); top != osfile.RealPath(project) {
		return nil, &files.Refusal{Reason: files.Refused, Message: project + " is not the top of its repository", Fix: "give the path " + top}
	}
	common, err := a.gitFolder(project, "--git-common-dir")
	if err != nil {
		return nil, err
	}
	hooks, err := a.gitFolder(project, "--git-path", "hooks")
	if err != nil {
		return nil, err
	}
	root, shared := top, false
	switch {
	case a.config.World.within(hooks, common):
		if !a.config.World.within(hooks, top) {
			root = common
		}
	case a.config.World.within(hooks, top):
		shared = true
	default:
		return nil, &files.Refusal{
			Reason: files.Refused, File: hooks, Message: "core.hooksPath leads out of the repository, so the hook would run in others too",
			Fix: "give the repository hooks of its own with: git config --local core.hooksPath .git/hooks",
		}
	}
	moved := make([]piece, len(pieces))
	for i, p := range pieces {
		p.file, p.root = filepath.Join(hooks, filepath.Base(string(p.places[0]))), root
		if info, err := os.Stat(p.file); err == nil && runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			return nil, &files.Refusal{
				Reason: files.Refused, File: p.file, Message: "it is not executable, so Git does not run it",
				Fix: "make it executable with chmod +x, or remove it",
			}
		}
		if shared && a.given(top, p.file) {
			p.value = sharedHook
			p.note = p.file + " belongs to the work tree, so everybody gets the hook with a commit. It names nothing of this machine, and does nothing where hubcli is not on PATH"
		}
		moved[i] = p
	}
	return moved, nil
}

// given reports whether Git gives a file in the work tree to others: it is tracked, or a commit
// of everything would take it.
func (a *Adapters) given(top, file string) bool {
	if _, err := a.askGit(top, "ls-files", "--error-unmatch", "--", file); err == nil {
		return true
	}
	_, err := a.askGit(top, "check-ignore", "--quiet", "--", file)
	return err != nil
}

// gitFolder asks Git for a folder, and returns its real path.
func (a *Adapters) gitFolder(project string, question ...string) (string, error) {
	said, err := a.askGit(project, append([]string{"rev-parse"}, question...)...)
	if err != nil {
		return "", err
	}
	if said = filepath.FromSlash(said); !filepath.IsAbs(said) {
		said = filepath.Join(project, said)
	}
	return osfile.RealPath(said), nil
}

// askGit returns what Git says in a folder. Variables of a surrounding Git, such as
// GIT_DIR in one of its hooks, do not count.
func (a *Adapters) askGit(project string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	// A repository may name a program that watches its files; it is not run.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = project
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "GIT_") {
			cmd.Env = append(cmd.Env, line)
		}
	}
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\r\n"), err
}
