package persistence

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

var update = flag.Bool("update", false, "write the golden files of a format that has not been released")

const (
	goldenStore     = "testdata/store-1.zip"
	goldenEncodings = "testdata/encodings-1.txt"
	goldenEnd       = 200 // at least; the last group may go beyond
	goldenIdentity  = "fbaad55648043296623b28c547e46c70b285c130312a01b6cd38512f1ba031f1"
)

// TestGoldenStore opens a store that the first version of format 1 wrote. It must
// open for ever.
func TestGoldenStore(t *testing.T) {
	if *update {
		writeGoldenStore(t)
	}
	dir := filepath.Join(t.TempDir(), "store")
	z, err := zip.OpenReader(goldenStore)
	require.NoError(t, err)
	defer z.Close()
	require.NoError(t, os.CopyFS(dir, z))
	s := openStore(t, dir)
	if s.Head().Seq < goldenEnd {
		t.Fatalf("Head = %+v", s.Head())
	}
	if err := checkHistory(s, goldenEnd); err != nil {
		t.Error(err)
	}
	if err := checkReads(s, s.Head().Message); err != nil {
		t.Error(err)
	}
	c, err := s.Checkpoint()
	if err != nil || len(c.Sections) != 2 || c.Sections[1].Owner != (core.Owner{Kind: core.OwnerAgent, Name: "ann"}) {
		t.Errorf("Checkpoint = %+v, %v", c, err)
	}
	if got := identity(s); got != goldenIdentity {
		t.Errorf("identity and secrets have the hash %s, want %s", got, goldenIdentity)
	}
	w := &conformance.Writer{Head: s.Head()}
	if err := s.Append(childGroup(w)); err != nil {
		t.Error(err)
	}
}

// writeGoldenStore makes the store of TestGoldenStore; its identity has to be
// copied to goldenIdentity.
func writeGoldenStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "golden")
	s := openStore(t, dir)
	w := &conformance.Writer{}
	for w.Head.Seq < goldenEnd {
		require.NoError(t, s.Append(childGroup(w)))
		if n := s.commits; n%5 == 0 {
			require.NoError(t, s.SaveCheckpoint(&core.Checkpoint{Head: w.Head, Wall: 1, Sections: []core.Section{
				{Owner: core.Owner{Kind: core.OwnerTasks}, Version: 1, Data: fmt.Append(nil, w.Head.Seq)},
				{Owner: core.Owner{Kind: core.OwnerAgent, Name: "ann"}, Version: 2, Data: []byte(`{}`)},
			}}))
		}
	}
	require.NoError(t, s.Close())
	_ = os.Remove(filepath.Join(dir, storedir.NameBallast))
	f, err := os.Create(goldenStore)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	require.NoError(t, z.AddFS(os.DirFS(dir)))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	t.Logf("goldenIdentity: %s", identity(s))
}

// identity is a hash over the store's identity and secrets.
func identity(s *Store) string {
	sum := sha256.Sum256([]byte(string(s.InstanceID()) + hex.EncodeToString(s.SecretKey()) + s.OperatorToken()))
	return hex.EncodeToString(sum[:])
}

// TestGoldenEncodings compares every encoding with the bytes that the first
// version of format 1 wrote.
func TestGoldenEncodings(t *testing.T) {
	w := &conformance.Writer{}
	post := w.Post("general", "topic", "hello ☃")
	direct := w.Record(core.MessageDraft{From: "ann", To: "bob", Channel: "direct", Kind: hub.KindNotice, Body: "b", Whole: true})
	frame, err := codec.AppendFrame(nil, []*core.Record{post, direct}, nil)
	require.NoError(t, err)
	publicMessage, err := codec.AppendMessage(nil, &post.Messages[0])
	require.NoError(t, err)
	directMessage, err := codec.AppendMessage(nil, &direct.Messages[0])
	require.NoError(t, err)
	k := codec.MessageBlock{First: 1, Ends: []uint32{uint32(len(publicMessage)), uint32(len(publicMessage) + len(directMessage))}}
	k.Body = append(append(k.Body, publicMessage...), directMessage...)
	several, one := codec.IndexList{IndexName: codec.IndexName{Prefix: codec.PrefixChannel, Name: "general"}, Ids: []hub.MessageID{1, 2, 300}}, codec.IndexList{IndexName: codec.IndexName{Prefix: codec.PrefixInbox, Name: "bob"}, Ids: []hub.MessageID{2}}
	encodings := map[string][]byte{
		"block": k.Seal(nil), "index": several.Entry().Value, "index of one": one.Entry().Value,
		"frame": frame, "frame with redo": sampleFrame(t), "checkpoint": sampleCheckpoint(t),
		"message": publicMessage, "direct message": directMessage,
		"row":    codec.EncodeRow(codec.RowKey(core.TableTask, core.IDKey(7)), []byte("value")),
		"effect": codec.EncodeEffect(&core.Effect{Scope: [32]byte{1}, Body: [32]byte{2}, Seq: 3, Kind: 4, Answer: []byte("5"), At: 6}),
		"gap":    codec.EncodeGap(codec.Gap{From: 1, Upto: 2, LowMessage: 3, HighMessage: 4}),
		"HEAD":   storedir.EncodeMark(9, storedir.Mark{Head: core.Head{Seq: 1, Message: 2, Fence: 3, HubMS: 4}, LastFrame: 5, Clean: true}),
		"FORMAT": storedir.Marker{Format: 1, InstanceID: "00112233445566778899aabbccddeeff"}.Encode(),
		"keys": bytes.Join([][]byte{
			codec.SeqKey(codec.PrefixFrame, 1), codec.MessageKey(2), codec.IndexKey(codec.PrefixChannel, "general", 3), codec.IndexKey(codec.PrefixThread, "t", 4),
			codec.IndexKey(codec.PrefixInbox, "bob", 5), codec.RowKey(core.TableLock, []byte("k")), codec.EffectKey([32]byte{6}), codec.SeqKey(codec.PrefixGap, 7), []byte(codec.KeyRedone),
		}, []byte("|")),
	}
	var text strings.Builder
	names := make([]string, 0, len(encodings))
	for name := range encodings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&text, "%s: %x\n", name, encodings[name])
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenEncodings, []byte(text.String()), 0o600))
	}
	golden, err := os.ReadFile(goldenEncodings)
	require.NoError(t, err)
	want := slices.Collect(strings.Lines(string(golden)))
	got := slices.Collect(strings.Lines(text.String()))
	if len(want) != len(got) {
		t.Fatalf("%d encodings, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the format has changed:\n got %swant %s", got[i], want[i])
		}
	}
}
