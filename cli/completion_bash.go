package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashAlone replaces the parts of cobra's script that call functions of the package
// bash-completion, which many machines do not have. A word ends only at a space: bash
// alone would also break it at : and =, which stand in conditions and flags.
var bashAlone = []struct{ theirs, own string }{
	{`    _get_comp_words_by_ref "$@" cur prev words cword
}
`, `    local line=${COMP_LINE:0:COMP_POINT}
    read -r -d '' -a words <<<"${line}"
    if [[ -z ${line} || ${line} == *[[:space:]] ]]; then
        words+=("")
    fi
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
}

# Folders, without the package bash-completion.
__hubcli_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    if [[ $(type -t compopt) == builtin ]]; then
        compopt -o filenames 2>/dev/null
    fi
    local name
    while IFS='' read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen "${1:--f}" -- "${cur}")
}
`},
	{"&& _filedir -d &&", "&& __hubcli_filedir -d &&"},
	{"            _filedir -d\n", "            __hubcli_filedir -d\n"},
	{"                    _filedir\n", "                    __hubcli_filedir\n"},
}

// BashCompletion writes the completion script for bash. It needs bash alone.
func BashCompletion(root *cobra.Command, w io.Writer) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	for _, part := range bashAlone {
		if strings.Count(script, part.theirs) != 1 {
			return fmt.Errorf("cobra's script for bash does not hold %q once", part.theirs)
		}
		script = strings.Replace(script, part.theirs, part.own, 1)
	}
	_, err := io.WriteString(w, script)
	return err
}

// ownBashCompletion makes "completion bash" print BashCompletion.
func ownBashCompletion(root *cobra.Command) {
	if root.CompletionOptions.DisableDefaultCmd {
		return
	}
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return
	}
	bash.Long = `Print the completion script for bash. It needs no other package.`
	bash.Example = `  source <(hubcli completion bash)
  hubcli completion bash > ~/.local/share/bash-completion/completions/hubcli`
	bash.RunE = func(cmd *cobra.Command, _ []string) error { return BashCompletion(root, cmd.OutOrStdout()) }
}
