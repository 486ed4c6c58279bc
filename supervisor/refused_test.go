package supervisor_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
	"hubcli/supervisor"
)

// treeOf is what stands in a folder: names, modes, times and contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %s", path, info.Mode(), info.ModTime().Format(time.RFC3339Nano))
		if ext := filepath.Ext(path); info.Mode().IsRegular() && d.Name() != "ballast" && ext != ".vlog" && ext != ".mem" {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %d %x", len(content), sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// TestStateThatCannotBeReadChangesNothing: the files of a store are whole, and what stands in
// them cannot be read as the state of a hub. The start is refused before it has changed the store,
// and in the same words again.
func TestStateThatCannotBeReadChangesNothing(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s *persistence.Store){
		"a row": func(t *testing.T, s *persistence.Store) {
			require.NoError(t, s.PutRows([]core.Row{{Table: core.TableQuarantine, Key: []byte("x"), Value: []byte("{")}}))
		},
		"a record of an owner that nobody knows": func(t *testing.T, s *persistence.Store) {
			h := s.Head()
			require.NoError(t, s.Append(&core.Group{Records: []*core.Record{{
				Seq: h.Seq + 1, HubMS: h.HubMS + 1, Owner: core.Owner{Kind: 250, Name: "x"}, FirstMessage: h.Message + 1, FirstFence: h.Fence + 1,
			}}}))
		},
		"a section of a checkpoint": func(t *testing.T, s *persistence.Store) {
			require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: s.Head(), Sections: []core.Section{{Owner: core.Owner{Kind: 250, Name: "x"}, Version: 1}}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			h := testhub.Start(t, testhub.Dir(dir))
			_, err := h.Hub.Post(t.Context(), hub.PostInput{FromAgent: "dev", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "a"})
			require.NoError(t, err)
			require.NoError(t, h.Stop())
			s, err := persistence.Open(dir, persistence.Options{})
			require.NoError(t, err)
			spoil(t, s)
			require.NoError(t, s.Close())
			was := treeOf(t, dir)
			var said []error
			for range 2 {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				tree, err := supervisor.Start(supervisor.Config{Storage: dir, Listener: l})
				if err == nil {
					_ = tree.Stop()
					t.Fatal("the hub starts")
				}
				said = append(said, err)
				if now := treeOf(t, dir); now != was {
					t.Fatalf("the start that was refused (%v) has changed the store:\n%s\nit was\n%s", err, now, was)
				}
			}
			if said[0].Error() != said[1].Error() || errors.Is(said[0], storedir.ErrLocked) {
				t.Errorf("%v, then %v", said[0], said[1])
			}
		})
	}
}
