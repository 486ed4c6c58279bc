package machine

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// salvageResult is what --json prints about a salvage.
type salvageResult struct {
	Storage string `json:"storage_path"`
	daemon.Salvaged
}

// rangesShown is how many ranges of a list are printed; SALVAGED has more.
const rangesShown = hub.SalvageShown

func runSalvage(env *term.Env, from, to string, adopt, asJSON bool) error {
	made, err := env.SalvageStore(from, to, origin(env, adopt))
	if errors.Is(err, daemon.ErrNoStore) {
		return term.Usage("name the folder of the damaged store with --storage", "there is no store at %s", from)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, salvageResult{Storage: to, Salvaged: made})
	}
	return printSalvage(env.Stdout, to, &made)
}

// origin says which stores are this user's own. Without a data root none is.
func origin(e *term.Env, adopt bool) daemon.Origin {
	root, _ := e.DataRoot()
	return daemon.Origin{DataRoot: root, Adopt: adopt}
}

func printSalvage(w io.Writer, to string, made *daemon.Salvaged) error {
	s := &made.Salvage
	lines := []string{
		fmt.Sprintf("store salvaged: %s, with %d messages of ids up to %d; its identity is new: %s", to, s.Messages, s.Message, made.Instance),
		fmt.Sprintf("the damaged store was not changed: %s", s.From),
	}
	if s.LostMessages > 0 {
		lines = append(lines, fmt.Sprintf("missing: %d messages: %s", s.LostMessages, ranges(s.LostIDs)))
	}
	if s.LostRecords > 0 {
		lines = append(lines, fmt.Sprintf("missing: %d records: %s", s.LostRecords, ranges(s.LostSeqs)))
	}
	if s.LostRows > 0 {
		lines = append(lines, fmt.Sprintf("missing: %d values; what they changed is as it was before, or gone", s.LostRows))
	}
	for _, note := range s.Notes {
		lines = append(lines, "missing: "+note)
	}
	for i, d := range s.Damaged {
		if i == rangesShown {
			lines = append(lines, fmt.Sprintf("damaged: %d further places", s.Damages-int64(i)))
			break
		}
		lines = append(lines, "damaged: "+d.File+": "+d.Reason)
	}
	if s.LostMessages == 0 && s.LostRecords == 0 && s.LostRows == 0 && len(s.Notes) == 0 {
		lines = append(lines, "nothing is missing")
	} else {
		lines = append(lines, "the file SALVAGED in the new store lists what is missing")
	}
	for i := range lines {
		lines[i] = peertext.TerminalLine(lines[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func ranges(list []hub.NumberRange) string {
	var parts []string
	for i, r := range list {
		switch {
		case i == rangesShown:
			return strings.Join(append(parts, "…"), ", ")
		case r.First == r.Last:
			parts = append(parts, fmt.Sprint(r.First))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", r.First, r.Last))
		}
	}
	return strings.Join(parts, ", ")
}
