package persistence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Bounds of the text about a store that is refused.
const (
	maxHoldings     = 512 << 20 // bytes of tables and write-ahead files that are read for it
	maxProgramChars = 80        // of one program
	maxPrograms     = 4         // that are named
)

// holdings says in short what a store holds: its instance, how much, and which programs it
// names. It reads the files as they stand, opens no database and changes no byte. What
// cannot be read is left out.
func holdings(dir string, instance hub.InstanceID) string {
	said := []string{"the instance " + strconv.QuoteToASCII(string(instance))}
	data := filepath.Join(dir, storedir.NameBadger)
	if size, err := folderSize(data); err != nil || size > maxHoldings {
		return said[0]
	}
	c := &holdingsReader{latest: map[string]badgerfile.RawPair{}, agents: map[string]bool{}}
	raw := badgerfile.NewRawReader(data)
	defer raw.Close()
	raw.Take = c.take
	if raw.Listed() != nil {
		return said[0]
	}
	said = append(said, fmt.Sprintf("%d messages", countOf(c.messages)), fmt.Sprintf("%d agents", len(c.agents)))
	if programs := c.programs(); len(programs) > 0 {
		told := programs[:min(len(programs), maxPrograms)]
		text := "the programs and addresses " + strings.Join(told, ", ")
		if more := len(programs) - len(told); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

func folderSize(dir string) (size int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, ierr := e.Info()
		if ierr == nil && !info.Mode().IsRegular() {
			ierr = errors.New("it is no plain file")
		}
		if ierr != nil && !errors.Is(ierr, fs.ErrNotExist) {
			return 0, ierr
		}
		if ext := filepath.Ext(e.Name()); ierr == nil && (ext == ".sst" || ext == ".mem") {
			size += info.Size()
		}
	}
	return size, err
}

// holdingsReader collects what is told of a store.
type holdingsReader struct {
	messages []span
	agents   map[string]bool
	latest   map[string]badgerfile.RawPair // by key, of the tables that name programs
}

func (c *holdingsReader) take(p badgerfile.RawPair) error {
	switch {
	case p.Deleted:
	case bytes.HasPrefix(p.Key, []byte(codec.PrefixMessage)):
		if k, err := codec.DecodeBlock(p.Key, p.Value); err == nil {
			c.messages = joined(c.messages, span{k.First - 1, k.Last()})
		}
	case bytes.HasPrefix(p.Key, codec.RowKey(core.TableAgent, nil)):
		c.agents[string(p.Key)] = true
	default:
		for _, t := range []core.Table{core.TableNotify, core.TableSpawnPolicy, core.TableConnection} {
			if bytes.HasPrefix(p.Key, codec.RowKey(t, nil)) && p.Ts >= c.latest[string(p.Key)].Ts {
				c.latest[string(p.Key)] = p
			}
		}
	}
	return nil
}

// programs names what the hub would run or call.
func (c *holdingsReader) programs() (named []string) {
	add := func(words ...string) {
		if len(words) > 0 && words[0] != "" {
			named = append(named, program(words...))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.latest)) {
		p := c.latest[key]
		value, err := codec.DecodeRow(p.Key, p.Value)
		if err != nil || len(value) == 0 {
			continue
		}
		switch core.Table(key[len(codec.PrefixRow)]) { //nolint:exhaustive // the others name no program
		case core.TableNotify:
			var n hub.Notify
			if json.Unmarshal(value, &n) == nil {
				add(n.Command...)
				add(n.Webhook)
			}
		case core.TableSpawnPolicy:
			var s hub.SpawnPolicy
			if json.Unmarshal(value, &s) == nil {
				for _, command := range s.Commands {
					add(command.Args...)
				}
			}
		case core.TableConnection:
			var row hub.Connection
			if json.Unmarshal(value, &row) == nil {
				add(row.Endpoint)
			}
		}
	}
	return named
}

// countOf is how many messages the spans have.
func countOf(list []span) (n int64) {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	upto := hub.MessageID(0)
	for _, s := range list {
		if s.upto > upto {
			n += int64(s.upto - max(s.low, upto))
			upto = s.upto
		}
	}
	return n
}

// program is an argument list or an address as it is told: the store's maker chose it.
func program(words ...string) string {
	text := strings.Join(words, " ")
	if runes := []rune(text); len(runes) > maxProgramChars {
		text = string(runes[:maxProgramChars]) + "…"
	}
	return strconv.Quote(text)
}
