package capsule

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testrace"
)

// hostile is one capsule that must be refused: what is done to a good one, and what the
// refusal says. The code is capsule_invalid unless another is given.
type hostile struct {
	what string
	do   func(d *draft)
	says string
	code hub.Code
}

// refused runs the cases, and returns how many there were.
func refused(t *testing.T, cases []hostile) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.what] {
			t.Errorf("there are two cases %q", c.what)
		}
		seen[c.what] = true
		d := newDraft(t)
		c.do(d)
		if c.code == "" {
			c.code = hub.CodeCapsuleInvalid
		}
		err := readAll(d.build(t), DefaultLimits())
		var e *hub.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, which is no refusal", c.what, err)
			continue
		}
		if e.Code != c.code || !strings.Contains(e.Message, c.says) || e.Fix == "" {
			t.Errorf("%s: got %s %q (%s), want %s with %q", c.what, e.Code, e.Message, e.Fix, c.code, c.says)
		}
	}
	t.Logf("%d capsules were refused", len(cases))
}

func added(name, data string) func(*draft) { return func(d *draft) { d.add(name, data) } }

func changed(name, old, by string) func(*draft) { return func(d *draft) { d.change(name, old, by) } }

// onEntry changes how an entry stands in the archive.
func onEntry(name string, do func(e *draftEntry)) func(*draft) {
	return func(d *draft) { d.central = func(d *draft) { do(d.of(name)) } }
}

func lied(do func(m *Manifest)) func(*draft) { return func(d *draft) { d.lie = do } }

func u32(n uint32) *uint32 { return &n }

// badNames are names of entries that no capsule has, with what the refusal says.
func badNames() map[string]string {
	all := map[string]string{
		"messages/": "folder", "rooms/": "folder", "": "no capsule has",
	}
	for _, outside := range []string{
		"../evil.ndjson", "messages/../../evil", "/etc/passwd", "messages/../rooms.ndjson", "..\\evil", "C:\\evil", "C:evil", "messages\\r1.ndjson",
		"messages/..", "..", "//host/share", "blobs/sha256/../../x", "./../x", "~/../.ssh/authorized_keys", "nul:", "messages/r1.ndjson/../r2.ndjson",
	} {
		all[outside] = "leads out"
	}
	for _, other := range []string{
		"evil.txt", "./rooms.ndjson", "rooms.NDJSON", "Rooms.ndjson", "rooms.ndjson ", " rooms.ndjson", "rooms.ndjson\x00", "rooms.ndjson\x00.txt", "rooms\n.ndjson",
		"messages/r0.ndjson", "messages/r01.ndjson", "messages/r1", "messages/x1.ndjson", "messages/r1.ndjson.ndjson", "messages/-r1.ndjson", "messages/r1x.ndjson",
		"messages/r99999999999999999999.ndjson", "messages/r1/r1.ndjson", "messages//r1.ndjson", "messages/r-1.ndjson", "messages/r١.ndjson", "messages/.ndjson",
		"blobs/sha256/abc", "blobs/sha256/" + strings.Repeat("A", 64), "blobs/sha256/" + strings.Repeat("g", 64), "blobs/sha256/" + strings.Repeat("0", 65),
		"blobs/md5/" + strings.Repeat("0", 64), "blobs/" + strings.Repeat("0", 64), "META-INF/MANIFEST.MF", "manifest.json.bak", "rooms.ndjson.gz",
		"room\u0073.ndjson\u200b", "ro\u043ems.ndjson", "\xff\xfe", ".", ".git/config", "con", "asks.ndjson", strings.Repeat("a", 65_000), "readme.md",
	} {
		all[other] = "no capsule has"
	}
	return all
}

func TestEntriesOfOtherNamesAreRefused(t *testing.T) {
	var cases []hostile
	for name, says := range badNames() {
		cases = append(cases, hostile{fmt.Sprintf("%.60q", name), added(name, "x\n"), says, ""})
	}
	refused(t, cases)
}

func TestArchivesThatAreNotPlainAreRefused(t *testing.T) {
	le := binary.LittleEndian
	end := func(at int, n uint64, size int) func(*draft) {
		return func(d *draft) {
			d.end = func(b []byte) []byte {
				if size == 2 {
					le.PutUint16(b[at:], uint16(n))
				} else {
					le.PutUint32(b[at:], uint32(n))
				}
				return b
			}
		}
	}
	file := func(do func([]byte) []byte) func(*draft) { return func(d *draft) { d.file = do } }
	mode := func(bits uint32) func(*draft) {
		return onEntry(nameRooms, func(e *draftEntry) { e.attributes = bits << 16 })
	}
	twice := func(d *draft) {
		d.central = func(d *draft) {
			d.entries = append(d.entries[:2:2], append([]*draftEntry{d.of(nameRooms)}, d.entries[2:]...)...)
		}
	}
	cases := []hostile{
		{"a symbolic link", mode(0o120777), "link", ""},
		{"a folder", mode(0o040755), "link", ""},
		{"a device", mode(0o020644), "link", ""},
		{"a block device", mode(0o060644), "link", ""},
		{"a named pipe", mode(0o010644), "link", ""},
		{"a socket", mode(0o140644), "link", ""},
		{"a folder of MS-DOS", onEntry(nameRooms, func(e *draftEntry) { e.attributes |= 0x10 }), "link", ""},
		{"an entry that is encrypted", onEntry(nameRooms, func(e *draftEntry) { e.flags = 1 }), "encrypted", ""},
		{"an entry with strong encryption", onEntry(nameRooms, func(e *draftEntry) { e.flags = 1 << 6 }), "newer version", ""},
		{"an entry with masked headers", onEntry(nameRooms, func(e *draftEntry) { e.flags = 1 << 13 }), "newer version", ""},
		{"an entry with patches", onEntry(nameRooms, func(e *draftEntry) { e.flags = 1 << 5 }), "newer version", ""},
		{"an entry of zip64", onEntry(nameRooms, func(e *draftEntry) { e.version = 45 }), "newer version", ""},
		{"an entry twice in the directory", twice, "two entries", ""},
		{"an entry twice in the archive", func(d *draft) { d.unsettled = true; d.settle(); d.add(nameRooms, "") }, "two entries", ""},
		{"a mimetype that is compressed", onEntry(nameMimetype, func(e *draftEntry) { e.method = methodDeflated }), "does not begin", ""},
		{"a mimetype of another kind", func(d *draft) { d.of(nameMimetype).data = strings.Replace(Mimetype, "hub", "bus", 1) }, "another kind of file", ""},
		{"a mimetype that is longer", func(d *draft) { d.of(nameMimetype).data += "\n" }, "does not begin", ""},
		{"no mimetype", func(d *draft) { d.drop(nameMimetype) }, "does not begin", ""},
		{"a mimetype behind others", func(d *draft) { d.entries[0], d.entries[1] = d.entries[1], d.entries[0] }, "does not begin", ""},
		{"an entry behind the manifest", func(d *draft) {
			d.central = func(d *draft) { n := len(d.entries); d.entries[n-1], d.entries[n-2] = d.entries[n-2], d.entries[n-1] }
		}, "not the last", ""},
		{"bytes before the archive", file(func(b []byte) []byte { return append([]byte("#!/bin/sh\n"), b...) }), "not where the archive says", ""},
		{"bytes behind the archive", file(func(b []byte) []byte { return append(b, "more"...) }), "does not end", ""},
		{"two archives", file(func(b []byte) []byte { return append(b, b...) }), "not where the archive says", ""},
		{"an empty archive behind", file(func(b []byte) []byte { return append(b, append([]byte("PK\x05\x06"), make([]byte, 18)...)...) }), "not where the archive says", ""},
		{"an empty archive", file(func([]byte) []byte { return append([]byte("PK\x05\x06"), make([]byte, 18)...) }), "does not begin", ""},
		{"an empty file", file(func([]byte) []byte { return nil }), "too short", ""},
		{"a text", file(func([]byte) []byte { return []byte("This is an ordinary text, and no archive.") }), "does not end", ""},
		{"a comment", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint16(b[20:], 3); return append(b, "abc"...) } }, "does not end", ""},
		{"a comment that is not there", end(20, 3, 2), "comment", ""},
		{"several parts", end(4, 1, 2), "several parts", ""},
		{"a directory in another part", end(6, 1, 2), "several parts", ""},
		{"fewer entries in this part", end(8, 3, 2), "several parts", ""},
		{"a directory of zip64", end(12, 0xffffffff, 4), "zip64", ""},
		{"a place of zip64", end(16, 0xffffffff, 4), "zip64", ""},
		{"a number of zip64", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint32(b[8:], 0xffffffff); return b } }, "zip64", ""},
		{"more entries than there are", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint32(b[8:], 0x00100010); return b } }, "", ""},
		{"far more entries than there are", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint32(b[8:], 0xfd00fd00); return b } }, "too short for its entries", ""},
		{"too many entries", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint32(b[8:], 0xfffefffe); return b } }, "too many entries", hub.CodeCapsuleTooLarge},
		{"fewer entries than there are", func(d *draft) { d.end = func(b []byte) []byte { le.PutUint32(b[8:], 0x00020002); return b } }, "more than its entries", ""},
		{"a directory that begins earlier", end(16, 10, 4), "not where the archive says", ""},
		{"an extra field", onEntry(nameRooms, func(e *draftEntry) { e.extra = "\x01\x00\x00\x00" }), "extra fields", ""},
		{"an extra field of zip64", onEntry(nameRooms, func(e *draftEntry) { e.extra = "\x01\x00\x10\x00" + strings.Repeat("\xff", 16) }), "extra fields", ""},
		{"another name in Unicode", onEntry(nameRooms, func(e *draftEntry) { e.extra = "up\x05\x00\x01aaaa" }), "extra fields", ""},
		{"an extra field in front alone", onEntry(nameRooms, func(e *draftEntry) { e.localExtra = "\x01\x00\x00\x00" }), "do not agree", ""},
		{"a comment of an entry", onEntry(nameRooms, func(e *draftEntry) { e.comment = "hello" }), "comment", ""},
		{"an entry in another part", onEntry(nameRooms, func(e *draftEntry) { e.disk = 1 }), "another part", ""},
		{"another name in front", onEntry(nameRooms, func(e *draftEntry) { e.localName = "evils.ndjson" }), "do not agree", ""},
		{"a longer name in front", onEntry(nameRooms, func(e *draftEntry) { e.localName = "../../evil.sh" }), "do not agree", ""},
		{"bytes between entries", onEntry(nameRooms, func(e *draftEntry) { e.before = "hidden" }), "does not begin where", ""},
		{"bytes behind an entry", onEntry(nameRooms, func(e *draftEntry) { e.after = "hidden" }), "does not begin where", ""},
		{"bytes before the directory", onEntry(nameManifest, func(e *draftEntry) { e.after = "hidden" }), "between the last entry", ""},
		{"a hidden entry", onEntry(nameRooms, func(e *draftEntry) { e.before = "PK\x03\x04" + strings.Repeat("\x00", 26) }), "does not begin where", ""},
		{"two entries at one place", onEntry(nameRuns, func(e *draftEntry) { e.offset = u32(0) }), "does not begin where", ""},
		{"an entry beyond the file", onEntry(nameRuns, func(e *draftEntry) { e.offset = u32(1 << 30) }), "does not begin where", ""},
		{"a stored entry of two sizes", onEntry(nameMimetype, func(e *draftEntry) { e.size = u32(1) }), "sizes differ", ""},
		{"a stored entry with its size behind", onEntry(nameMimetype, func(e *draftEntry) { e.flags = flagDescriptor }), "sizes differ", ""},
		{"a size behind that is not there", onEntry(nameRooms, func(e *draftEntry) { e.flags = flagDescriptor }), "do not agree", ""},
		{"an entry that is longer than it says", onEntry(nameRooms, func(e *draftEntry) { e.packedSize = u32(3) }), "does not begin where", ""},
		{"an entry that is shorter than it says", onEntry(nameRooms, func(e *draftEntry) { e.packedSize = u32(1 << 20) }), "", ""},
		{"an entry as long as 4 GiB", onEntry(nameRooms, func(e *draftEntry) { e.packedSize = u32(0xfffffffe) }), "", ""},
		{"a wrong check sum", onEntry(nameRooms, func(e *draftEntry) { e.crc = u32(7) }), "check sum", ""},
		{"a wrong check sum of the manifest", onEntry(nameManifest, func(e *draftEntry) { e.crc = u32(7) }), "check sum", ""},
		{"an entry that expands to more", onEntry(nameReadme, func(e *draftEntry) { e.packed = packedOf(e.data + "more") }), "expands to more", ""},
		{"an entry that expands to less", onEntry(nameReadme, func(e *draftEntry) { e.packed = packedOf(e.data[:40]) }), "cannot be expanded", ""},
		{"an entry with bytes behind its end", onEntry(nameReadme, func(e *draftEntry) { e.packed = append(packedOf(e.data), "hidden"...) }), "behind the end", ""},
		{"an entry that is no deflate", onEntry(nameReadme, func(e *draftEntry) { e.packed = []byte("\xff\xff\xff\xff") }), "cannot be expanded", ""},
		{"an entry that is cut", onEntry(nameReadme, func(e *draftEntry) { p := packedOf(e.data); e.packed = p[:len(p)-3] }), "cannot be expanded", ""},
		{"an entry of no bytes", onEntry(nameReadme, func(e *draftEntry) { e.packed = []byte{} }), "cannot be expanded", ""},
		{"lines of which one is cut", onEntry(nameRooms, func(e *draftEntry) { p := packedOf(e.data); e.packed = p[:len(p)-3] }), "cannot be expanded", ""},
	}
	for method := range uint16(100) {
		if method != methodStored && method != methodDeflated && method%7 == 1 {
			cases = append(cases, hostile{fmt.Sprintf("compression by the method %d", method), onEntry(nameRooms, func(e *draftEntry) { e.method = method }), "another method", ""})
		}
	}
	refused(t, cases)
}

func packedOf(data string) []byte { return deflated(noTest, data) }

// noTest serves where nothing can fail.
var noTest = new(testing.B)

func TestManifestsThatLieAreRefused(t *testing.T) {
	counts := map[string]func(c *Counts) *int64{
		"rooms": func(c *Counts) *int64 { return &c.Rooms }, "agents": func(c *Counts) *int64 { return &c.Agents },
		"decisions": func(c *Counts) *int64 { return &c.Decisions }, "artifacts": func(c *Counts) *int64 { return &c.Artifacts },
		"memories": func(c *Counts) *int64 { return &c.Memories }, "runs": func(c *Counts) *int64 { return &c.Runs },
		"tasks": func(c *Counts) *int64 { return &c.Tasks }, "messages": func(c *Counts) *int64 { return &c.Messages },
		"direct": func(c *Counts) *int64 { return &c.Direct }, "blobs": func(c *Counts) *int64 { return &c.Blobs },
		"blob_bytes": func(c *Counts) *int64 { return &c.BlobBytes },
	}
	var cases []hostile
	for name, of := range counts {
		for _, by := range []int64{1, -1, 1 << 40, -1 << 40} {
			cases = append(cases, hostile{fmt.Sprintf("%s counted wrong by %d", name, by), lied(func(m *Manifest) { *of(&m.Counts) += by }), "", ""})
		}
	}
	entry := func(do func(e *Entry)) func(*draft) {
		return lied(func(m *Manifest) {
			for i := range m.Entries {
				if m.Entries[i].Path == nameRooms {
					do(&m.Entries[i])
				}
			}
			m.ContentDigest = Digest(m.Entries)
		})
	}
	raw := func(old, by string) func(*draft) {
		return func(d *draft) {
			d.raw = func(text string) string {
				if !strings.Contains(text, old) {
					t.Errorf("the manifest does not have %s", old)
				}
				return strings.Replace(text, old, by, 1)
			}
		}
	}
	cases = append(cases, []hostile{
		{"another hash", entry(func(e *Entry) { e.SHA256 = strings.Repeat("0", 64) }), "SHA-256 is another", ""},
		{"a hash in upper case", entry(func(e *Entry) { e.SHA256 = strings.ToUpper(e.SHA256) }), "no SHA-256", ""},
		{"a short hash", entry(func(e *Entry) { e.SHA256 = e.SHA256[:63] }), "no SHA-256", ""},
		{"no hash", entry(func(e *Entry) { e.SHA256 = "" }), "no SHA-256", ""},
		{"another size", entry(func(e *Entry) { e.Bytes++ }), "different sizes", ""},
		{"a negative size", entry(func(e *Entry) { e.Bytes = -1 }), "different sizes", ""},
		{"negative lines", entry(func(e *Entry) { e.Rows = -1 }), "number of lines", ""},
		{"more lines than can be", entry(func(e *Entry) { e.Rows = 1 << 50 }), "number of lines", ""},
		{"more lines than there are", lied(func(m *Manifest) { m.Counts.Rooms++; rowsOf(m, nameRooms, 1) }), "", ""},
		{"fewer lines than there are", lied(func(m *Manifest) { m.Counts.Agents--; rowsOf(m, nameAgents, -1) }), "lines", ""},
		{"lines of a blob", lied(func(m *Manifest) { m.Entries[3].Rows = 1 }), "number of lines", ""},
		{"another path", entry(func(e *Entry) { e.Path = "rooms.ndjsoo" }), "does not have it", ""},
		{"a path outside", lied(func(m *Manifest) { m.Entries[len(m.Entries)-1].Path = "../../x" }), "not sorted", ""},
		{"an entry that is not there", lied(func(m *Manifest) {
			m.Entries = append(m.Entries, Entry{Path: "zz", SHA256: strings.Repeat("0", 64)})
		}), "does not have it", ""},
		{"an entry that is not listed", lied(func(m *Manifest) { m.Entries = m.Entries[1:] }), "does not list it", ""},
		{"no entries", lied(func(m *Manifest) { m.Entries = []Entry{} }), "does not list it", ""},
		{"an entry listed twice", lied(func(m *Manifest) { m.Entries = append(m.Entries[:1:1], m.Entries...) }), "stands twice", ""},
		{"entries that are not sorted", lied(func(m *Manifest) { m.Entries[0], m.Entries[1] = m.Entries[1], m.Entries[0] }), "not sorted", ""},
		{"itself as an entry", lied(func(m *Manifest) {
			m.Entries = append(m.Entries[:4:4], append([]Entry{{Path: nameManifest, SHA256: strings.Repeat("0", 64)}}, m.Entries[4:]...)...)
		}), "", ""},
		{"another digest", lied(func(m *Manifest) { m.ContentDigest = "sha256:" + strings.Repeat("0", 64) }), "content_digest", ""},
		{"a digest of another kind", lied(func(m *Manifest) { m.ContentDigest = "md5:" + m.ContentDigest }), "content_digest", ""},
		{"no digest", lied(func(m *Manifest) { m.ContentDigest = "" }), "content_digest", ""},
		{"another format", lied(func(m *Manifest) { m.Format = "zip" }), "which version", ""},
		{"no format", raw(`"format":"hubpack",`, ""), "which version", ""},
		{"a later major", lied(func(m *Manifest) { m.Schema.Major = 2 }), "version 2", hub.CodeCapsuleTooNew},
		{"a far later major", lied(func(m *Manifest) { m.Schema.Major = 1 << 30 }), "version", hub.CodeCapsuleTooNew},
		{"a later major with members of its own", func(d *draft) {
			d.raw = func(string) string { return `{"format":"hubpack","schema":{"major":2,"minor":0},"all":"new"}` }
		}, "version 2", hub.CodeCapsuleTooNew},
		{"the major 0", lied(func(m *Manifest) { m.Schema.Major = 0 }), "which version", ""},
		{"a negative major", lied(func(m *Manifest) { m.Schema.Major = -1 }), "which version", ""},
		{"a negative minor", lied(func(m *Manifest) { m.Schema.Minor = -1 }), "which version", ""},
		{"a major in a text", raw(`"major":1`, `"major":"1"`), "which version", ""},
		{"another scope", lied(func(m *Manifest) { m.Scope = "all" }), "scope", ""},
		{"the scope of fewer entries", lied(func(m *Manifest) { m.Scope = ScopeKnowledge }), "no such entry", ""},
		{"another privacy", lied(func(m *Manifest) { m.Privacy = "public" }), "privacy", ""},
		{"a privacy that does not fit", lied(func(m *Manifest) { m.Privacy = ShareSafe }), "privacy", ""},
		{"a privacy that does not fit, with a lie", lied(func(m *Manifest) { m.Privacy, m.Counts.Direct = ShareSafe, 0 }), "private", ""},
		{"another name of the project", lied(func(m *Manifest) { m.Project.Name = "Other" }), "another name", ""},
		{"another slug of the project", lied(func(m *Manifest) { m.Project.Slug = "other" }), "another name", ""},
		{"an id that is none", lied(func(m *Manifest) { m.CapsuleID = "../../x" }), "capsule_id", ""},
		{"an id in upper case", lied(func(m *Manifest) { m.CapsuleID = strings.Repeat("A", 32) }), "capsule_id", ""},
		{"no product version", lied(func(m *Manifest) { m.ProductVersion = "" }), "product_version", ""},
		{"a product version of two lines", lied(func(m *Manifest) { m.ProductVersion = "1\n2" }), "product_version", ""},
		{"a negative redaction", lied(func(m *Manifest) { m.Redaction.Replaced = map[string]int{"x": -1} }), "redaction", ""},
		{"a negative number of what was left out", lied(func(m *Manifest) { m.Redaction.LeftOut = map[string]int{"x": -1} }), "redaction", ""},
		{"a rule with a control character", lied(func(m *Manifest) { m.Redaction.Replaced = map[string]int{"\x1b[2J": 1} }), "redaction", ""},
		{"too many rules", lied(func(m *Manifest) {
			m.Redaction.Replaced = map[string]int{}
			for n := range maxRedactionNames + 1 {
				m.Redaction.Replaced[fmt.Sprint(n)] = 1
			}
		}), "redaction", ""},
		{"a member that is unknown", raw(`{"format"`, `{"formats":1,"format"`), "no capsule of this version", ""},
		{"a member twice", raw(`{"format"`, `{"format":"hubpack","format"`), "twice", ""},
		{"a member twice by an escape", raw(`{"format"`, `{"\u0066ormat":"hubpack","format"`), "twice", ""},
		{"a member in another case", raw(`{"format"`, `{"Format":"hubpack","format"`), "another case", ""},
		{"null for a list", raw(`"entries":[`, `"entries":null,"x":[`), "", ""},
		{"null for the redaction", raw(`"replaced":{}`, `"replaced":null`), "", ""},
		{"a time with an offset", raw(`"created_at":"2026-09-21T14:13:20.000Z"`, `"created_at":"2026-09-21T14:13:20.000+00:00"`), "no time", ""},
		{"a time that there is not", raw(`"created_at":"2026-09-21T14:13:20.000Z"`, `"created_at":"2026-13-41T14:13:20.000Z"`), "no time", ""},
		{"no JSON", func(d *draft) { d.raw = func(text string) string { return text[1:] } }, "not JSON", ""},
		{"two JSON texts", func(d *draft) { d.raw = func(text string) string { return text + text } }, "not JSON", ""},
		{"a list", func(d *draft) { d.raw = func(text string) string { return "[" + text + "]" } }, "which version", ""},
		{"no UTF-8", raw("web-shop", "web\xffshop"), "UTF-8", ""},
		{"half a character", raw("web-shop", `web\ud800shop`), "surrogate", ""},
		{"deep nesting", raw(`{"format"`, `{"x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`,"format"`), "nests deeper", ""},
		{"an empty manifest", func(d *draft) { d.raw = func(string) string { return "" } }, "not JSON", ""},
	}...)
	refused(t, cases)
}

func rowsOf(m *Manifest, path string, by int64) {
	for i := range m.Entries {
		if m.Entries[i].Path == path {
			m.Entries[i].Rows += by
		}
	}
}

func TestCapsulesThatLackAnEntryAreRefused(t *testing.T) {
	var cases []hostile
	for _, name := range append([]string{nameReadme, nameProject, MessagesPath("r1"), MessagesPath("r2"), BlobPath(hashOf(newSample().blobs[0]))}, sections...) {
		cases = append(cases, hostile{name, func(d *draft) { d.drop(name) }, "", ""})
	}
	cases = append(cases,
		hostile{"messages of a room that is not there", added("messages/r3.ndjson", ""), "no such entry", ""},
		hostile{"bytes that nobody names", added(BlobPath(hashOf([]byte("x"))), "x"), "no artifact has", ""},
		hostile{"bytes under another hash", added(BlobPath(strings.Repeat("0", 64)), "x"), "its name is not", ""},
		hostile{"bytes that are too many", func(d *draft) {
			data := strings.Repeat("x", hub.MaxArtifactBytes+1)
			d.add(BlobPath(hashOf([]byte(data))), data)
		}, "too large", hub.CodeCapsuleTooLarge},
		hostile{"a README that is too long", func(d *draft) { d.of(nameReadme).data = strings.Repeat("x", maxSmall+1) }, "too large", hub.CodeCapsuleTooLarge},
	)
	refused(t, cases)
}

func TestLinesThatDoNotFitAreRefused(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	const r1, r2 = "messages/r1.ndjson", "messages/r2.ndjson"
	long := strings.Repeat("é", 1_000_000)
	cases := []hostile{
		// project and rooms
		{"a slug that is none", changed(nameProject, `"web-shop"`, `"../web"`), "slug", ""},
		{"a project without a name", changed(nameProject, `"Web shop"`, `""`), "name", ""},
		{"a project with an invisible name", changed(nameProject, `"Web shop"`, `"\u200b"`), "name", ""},
		{"a room of another project", changed(nameRooms, `"id":"r1"`, `"id":"r_5x"`), "no reference", ""},
		{"a room with another letter", changed(nameRooms, `"id":"r1"`, `"id":"d1"`), "no reference", ""},
		{"a room with a zero in front", changed(nameRooms, `"id":"r1"`, `"id":"r01"`), "no reference", ""},
		{"rooms in another order", changed(nameRooms, `"id":"r1"`, `"id":"r2"`), "numbered", ""},
		{"rooms with a gap", changed(nameRooms, `"id":"r2"`, `"id":"r3"`), "numbered", ""},
		{"two rooms of one slug", changed(nameRooms, `"slug":"web"`, `"slug":"api"`), "same slug", ""},
		{"a room with a slug that is none", changed(nameRooms, `"slug":"web"`, `"slug":"We b"`), "slug", ""},
		{"a room with a control character", changed(nameRooms, `"name":"API"`, `"name":"A\u001b[2J"`), "control", ""},
		{"a room with too long a name", changed(nameRooms, `"name":"API"`, `"name":"`+long+`"`), "too long", ""},
		{"a room with too long a topic", changed(nameRooms, `"topic":""`, `"topic":"`+long+`"`), "topic", ""},
		{"a room with another policy of locks", changed(nameRooms, `"locks":"warn"`, `"locks":"never"`), "locks", ""},
		{"a room with a guard out of range", changed(nameRooms, `"guard_hops":20`, `"guard_hops":3`), "guard_hops", ""},
		{"a room archived with its project alone", changed(nameRooms, `"archived":true,`, ``), "archived_with_project", ""},
		{"a room of nobody known", changed(nameRooms, `"created_by":"ann"`, `"created_by":"eve"`), "agents.ndjson", ""},
		{"a room of an agent that cannot be", changed(nameRooms, `"created_by":"ann"`, `"created_by":"an n"`), "created_by", ""},
		// agents
		{"an agent twice", changed(nameAgents, `"bob"`, `"ann"`), "sorted", ""},
		{"agents in another order", changed(nameAgents, `"ann"`, `"zoe"`), "sorted", ""},
		{"an agent with a reserved name", changed(nameAgents, `"cy.7"`, `"system"`), "id", ""},
		{"an agent with no name", changed(nameAgents, `"cy.7"`, `""`), "id", ""},
		{"an agent with a name that is too long", changed(nameAgents, `"cy.7"`, `"`+strings.Repeat("c", 65)+`"`), "id", ""},
		{"an agent with a name that leads out", changed(nameAgents, `"cy.7"`, `"../cy"`), "id", ""},
		{"an agent that calls itself by an escape", changed(nameAgents, `"Ann"`, `"\u001b]0;x\u0007"`), "control", ""},
		// decisions
		{"a decision in a room that is not there", changed(nameDecisions, `"room":"r2"`, `"room":"r3"`), "no room", ""},
		{"a decision without a title", changed(nameDecisions, `"Wait"`, `""`), "title", ""},
		{"decisions with a gap", changed(nameDecisions, `"d2"`, `"d3"`), "numbered", ""},
		{"a decision of nobody known", changed(nameDecisions, `"by":"bob"`, `"by":"eve"`), "agents.ndjson", ""},
		{"a decision with deep metadata", changed(nameDecisions, `["a",1.50]`, `[[[[1]]]]`), "deeper", ""},
		{"a decision with metadata that are a list", changed(nameDecisions, `{"why":["a",1.50]}`, `[]`), "object", ""},
		{"a decision with long metadata", changed(nameDecisions, `["a",1.50]`, `"`+long+`"`), "metadata", ""},
		{"a decision with a long note", changed(nameDecisions, `"see #m2"`, `"`+long+`"`), "note", ""},
		{"metadata with a name twice", changed(nameDecisions, `"why":`, `"why":1,"why":`), "twice", ""},
		{"metadata with a number out of range", changed(nameDecisions, `1.50`, `1e999`), "range", ""},
		{"metadata with half a character", changed(nameDecisions, `1.50`, `"\udc00"`), "surrogate", ""},
		// artifacts
		{"an artifact of a version that is missing", changed(nameArtifacts, `"version":2`, `"version":4`), "versions", ""},
		{"an artifact of the version 0", changed(nameArtifacts, `"version":1`, `"version":0`), "version", ""},
		{"two artifacts of one version", changed(nameArtifacts, `"version":2`, `"version":1`), "versions", ""},
		{"an artifact with another hash", changed(nameArtifacts, hashOf(newSample().blobs[1]), strings.Repeat("0", 64)), "no bytes", ""},
		{"an artifact with a hash that leads out", changed(nameArtifacts, hashOf(newSample().blobs[1]), "../../../etc/passwd"), "sha256", ""},
		{"an artifact with another size", changed(nameArtifacts, `"bytes":5,`, `"bytes":6,`), "no bytes", ""},
		{"an artifact with a negative size", changed(nameArtifacts, `"bytes":5,`, `"bytes":-5,`), "bytes", ""},
		{"an artifact that is left out and is there", changed(nameArtifacts, `{"id":"a2"`, `{"left_out":"binary","id":"a2"`), "bytes", ""},
		{"an artifact in a room that is not there", changed(nameArtifacts, `"room":"r1"`, `"room":"r9"`), "no room", ""},
		{"an artifact of another project", changed(nameArtifacts, `"a3"`, `"a_9z"`), "no reference", ""},
		{"an artifact without a type", changed(nameArtifacts, `"text/markdown"`, `""`), "content_type", ""},
		{"an artifact whose type is a header", changed(nameArtifacts, `"text/markdown"`, `"text/html\r\nX: y"`), "content_type", ""},
		// memories
		{"a memory that replaces itself", changed(nameMemories, `"replaces":"k1"`, `"replaces":"k2"`), "replaces", ""},
		{"a memory that replaces a later one", changed(nameMemories, `"replaces":"k1"`, `"replaces":"k4"`), "replaces", ""},
		{"a memory that replaces another key", changed(nameMemories, `"replaces":"k2"`, `"replaces":"k3"`), "does not replace", ""},
		{"a key with two memories", changed(nameMemories, `,"replaces":"k1"`, ``), "does not replace", ""},
		{"a memory that was not replaced", changed(nameMemories, `"text":"80"`, `"replaced_at":"2026-09-21T14:14:01.000Z","text":"80"`), "no line replaces", ""},
		{"a memory that does not say that it was replaced", changed(nameMemories, `,"replaced_at":"2026-09-21T14:14:01.000Z"`, ``), "does not say so", ""},
		{"a memory without text and key", changed(nameMemories, `"text":"Be kind.",`, ``), "text", ""},
		{"a memory of the project in a room", changed(nameMemories, `"scope":"project"`, `"room":"r1","scope":"project"`), "scope", ""},
		{"a memory of a room without it", changed(nameMemories, `"room":"r1",`, ``), "scope", ""},
		{"a memory of another scope", changed(nameMemories, `"scope":"project"`, `"scope":"world"`), "scope", ""},
		{"a memory with too many tags", changed(nameMemories, `["net"]`, `["net"`+strings.Repeat(`,"t"`, hub.MaxMemoryTags)+`]`), "tags", ""},
		{"a memory with an empty tag", changed(nameMemories, `["net"]`, `[""]`), "tags", ""},
		{"a memory that is too long", changed(nameMemories, `"Be kind."`, `"`+long+`"`), "text", ""},
		// runs and tasks
		{"a run of another status", changed(nameRuns, `"running"`, `"done"`), "status", ""},
		{"a run in a room that is not there", changed(nameRuns, `"r1"`, `"r3"`), "no room", ""},
		{"a run with no title", changed(nameRuns, `"Release"`, `""`), "title", ""},
		{"a task in a run that is not there", changed(nameTasks, `"u1"`, `"u2"`), "no run", ""},
		{"a task of another run's form", changed(nameTasks, `"u1"`, `"run_5"`), "no reference", ""},
		{"a task of another status", changed(nameTasks, `"done"`, `"completed"`), "status", ""},
		{"tasks in another order", changed(nameTasks, `{"id":2`, `{"id":6`), "", ""},
		{"a task twice", changed(nameTasks, `{"id":5`, `{"id":2`), "", ""},
		{"a task with the number 0", changed(nameTasks, `{"id":2`, `{"id":0`), "id", ""},
		{"a task with a negative number", changed(nameTasks, `{"id":2`, `{"id":-2`), "id", ""},
		{"a task with a number beyond", changed(nameTasks, `{"id":7`, `{"id":4000000000`), "id", ""},
		{"a task with a number a little beyond", changed(nameTasks, `{"id":7`, `{"id":11`), "no #m11", ""},
		{"a task whose parent is no task", changed(nameTasks, `"parent":2`, `"parent":1`), "no task", ""},
		{"a task that is its own parent", changed(nameTasks, `"parent":2`, `"parent":5`), "parent", ""},
		{"a task whose parent is later", changed(nameTasks, `"parent":2`, `"parent":7`), "parent", ""},
		{"a task with a negative parent", changed(nameTasks, `"parent":2`, `"parent":-2`), "parent", ""},
		{"a task that waits for itself", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[2]`), "blocked_by", ""},
		{"tasks that wait for each other", changed(nameTasks, `"blocked_by":[]`, `"blocked_by":[2]`), "waits for itself", ""},
		{"a task that waits for a message", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[3]`), "no task", ""},
		{"a task that waits for a number beyond", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[5,77]`), "no #m77", ""},
		{"a task that waits for a negative number", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[-5]`), "blocked_by", ""},
		{"a task that waits twice for one", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[5,5]`), "blocked_by", ""},
		{"a task that waits in another order", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[7,5]`), "blocked_by", ""},
		{"a task that waits for too many", changed(nameTasks, `"blocked_by":[5]`, `"blocked_by":[`+countTo(hub.MaxBlockedBy+1)+`]`), "blocked_by", ""},
		{"a task with its result before it", changed(nameTasks, `"result":4`, `"result":1`), "result", ""},
		{"a task with a result beyond", changed(nameTasks, `"result":4`, `"result":12`), "no #m12", ""},
		{"a task with a result by words", changed(nameTasks, `"result":4`, `"outcome":"good"`), "another way", ""},
		{"a task of the version 0", changed(nameTasks, `"version":3`, `"version":0`), "version", ""},
		{"a task of nobody", changed(nameTasks, `"created_by":"bob"`, `"created_by":""`), "created_by", ""},
		{"a task of nobody known", changed(nameTasks, `"assignee":"bob"`, `"assignee":"eve"`), "agents.ndjson", ""},
		{"a task that asks nobody known", changed(nameTasks, `"asked":"cy.7"`, `"asked":"eve"`), "agents.ndjson", ""},
		{"a public task that asks an agent", changed(nameTasks, `"direct":true,`, ``), "asked", ""},
		{"a task that says that it is direct", changed(nameTasks, `"updated_at":"2026-09-21T14:13:33.000Z"}`, `"updated_at":"2026-09-21T14:13:33.000Z","direct":true}`), "direct", ""},
		{"a task in another room than its message", changed(nameTasks, `"room":"r2"`, `"room":"r1"`), "another room", ""},
		{"a task whose message opens none", changed(r1, `"kind":"task_request"`, `"kind":"chat"`), "opens none", ""},
		{"a task that is nowhere a message", changed(nameTasks, `"result":4`, `"result":6`), "", "none"},
		// messages
		{"messages in another order", changed(r1, `{"id":5`, `{"id":3`), "sorted", ""},
		{"a message twice", changed(r1, `{"id":4`, `{"id":2`), "", ""},
		{"a message in two rooms", changed(r2, `{"id":3`, `{"id":1`), "another room", ""},
		{"a gap in the numbers", changed(r1, `{"id":1,`, `{"id":0,`), "id", ""},
		{"a number that is missing", func(d *draft) { d.change(r1, d.firstLine(r1), ""); d.change(r1, "\n", "") }, "number 1", ""},
		{"a number that is no whole one", changed(r1, `{"id":1,`, `{"id":1.0,`), "another type", ""},
		{"a number in a text", changed(r1, `{"id":1,`, `{"id":"1",`), "another type", ""},
		{"a number that is too large", changed(r1, `{"id":1,`, `{"id":99999999999999999999,`), "another type", ""},
		{"a number beyond the counts", changed(r2, `{"id":7,`, `{"id":19999999,`), "no #m19999999", ""},
		{"a message of nobody", changed(r1, `"from":"ann"`, `"from":""`), "from", ""},
		{"a message of nobody known", changed(r1, `"from":"bob"`, `"from":"eve"`), "agents.ndjson", ""},
		{"a message to nobody known", changed(r2, `"to":"cy.7"`, `"to":"eve"`), "agents.ndjson", ""},
		{"a public message with a label", changed(r2, `"to":"cy.7",`, ``), "channel", ""},
		{"one more direct message", changed(r1, `"kind":"chat"`, `"to":"bob","kind":"chat"`), "direct messages", ""},
		{"a message of another kind", changed(r1, `"kind":"chat"`, `"kind":"order"`), "kind", ""},
		{"a message of a kind in another case", changed(r1, `"kind":"chat"`, `"kind":"Chat"`), "kind", ""},
		{"a message of no kind", changed(r1, `"kind":"chat"`, `"kind":""`), "kind", ""},
		{"a message that answers itself", changed(r1, `"reply_to":2`, `"reply_to":4`), "reply_to", ""},
		{"a message that answers a later one", changed(r1, `"reply_to":2`, `"reply_to":6`), "reply_to", ""},
		{"a message that answers a negative number", changed(r1, `"reply_to":2`, `"reply_to":-2`), "reply_to", ""},
		{"a message below a later task", changed(r1, `"parent_task":2`, `"parent_task":7`), "parent_task", ""},
		{"a message of another authority", changed(r1, `"authority":"agent"`, `"authority":"root"`), "authority", ""},
		{"a message of another assurance", changed(r1, `"assurance":"relay"`, `"assurance":"sure"`), "assurance", ""},
		{"a message that is too long", changed(r1, `"Write the parser"`, `"`+long+`"`), "body", ""},
		{"a message with too many attachments", changed(r1, `"attachments":[`, `"attachments":[`+strings.Repeat(`{"type":"text","content":"x"},`, 32)), "attachments", ""},
		{"an attachment of another type", changed(r1, `"type":"code"`, `"type":"exe"`), "type", ""},
		{"an attachment with too much", changed(r1, `"x := 1"`, `"`+long+`"`), "content", ""},
		{"an attachment without content", changed(r1, `"content":"x := 1",`, ``), "content", ""},
		{"an attachment with null", changed(r1, `{"a":[1,2,{"b":null}]}`, `null`), "null", ""},
		{"code that is no text", changed(r1, `"x := 1"`, `[1]`), "content", ""},
		{"a reference without a path", changed(r1, `"path":"parser.go",`, ``), "path", ""},
		{"a reference with lines backward", changed(r1, `"end_line":9`, `"end_line":1`), "end_line", ""},
		{"a reference with a negative line", changed(r1, `"start_line":3`, `"start_line":-3`), "start_line", ""},
		{"a text with a path", changed(r1, `"language":"go"`, `"path":"/etc/passwd"`), "type", ""},
		{"JSON with a language", changed(r1, `"content":{"a"`, `"language":"go","content":{"a"`), "language", ""},
		{"an attachment with an unknown member", changed(r1, `"language":"go"`, `"shell":"go"`), "no capsule of this version", ""},
		{"an attachment with a member twice", changed(r1, `"language":"go"`, `"language":"go","language":"c"`), "twice", ""},
		{"an attachment that is a text", changed(r1, `"attachments":[`, `"attachments":["x",`), "another type", ""},
		{"an attachment that is a list", changed(r1, `"attachments":[`, `"attachments":[[],`), "another type", ""},
		{"attachments that are an object", changed(r2, `"body":"A notice"`, `"body":"A notice","attachments":{"type":"text","content":"x"}`), "another type", ""},
		{"metadata that are a text", changed(r1, `{"task_completed":"#m2"}`, `"x"`), "object", ""},
		{"metadata that are null", changed(r1, `{"task_completed":"#m2"}`, `null`), "null", ""},
		{"metadata that are too deep", changed(r1, `"#m2"`, strings.Repeat("[", 33)+strings.Repeat("]", 33)), "deeper", ""},
		{"metadata that are too long", changed(r1, `"#m2"`, `"`+long+`"`), "metadata", ""},
		{"a thread with a control character", changed(r1, `"thread":"parser"`, `"thread":"a\u0000"`), "thread", ""},
		{"a time of another form", changed(r1, `"2026-09-21T14:13:30.000Z"`, `"2026-09-21 14:13:30"`), "no time", ""},
		{"a time in seconds", changed(r1, `"2026-09-21T14:13:30.000Z"`, `1790000010`), "another type", ""},
		{"a time without milliseconds", changed(r1, `"2026-09-21T14:13:30.000Z"`, `"2026-09-21T14:13:30Z"`), "no time", ""},
		{"a time on the 30th of February", changed(r1, `"2026-09-21T14:13:30.000Z"`, `"2026-02-30T14:13:30.000Z"`), "no time", ""},
		{"a time that is escaped", changed(r1, `"2026-09-21T14:13:30.000Z"`, `"2026-09-21T14:13:30.000\u005a"`), "another type", ""},
		// lines as such
		{"no UTF-8", changed(r1, "done", "d\xffne"), "UTF-8", ""},
		{"UTF-8 that is too long", changed(r1, "done", "d\xc0\xafne"), "UTF-8", ""},
		{"a surrogate in UTF-8", changed(r1, "done", "d\xed\xa0\x80ne"), "UTF-8", ""},
		{"half a surrogate", changed(r1, "done", `d\ud83dne`), "surrogate", ""},
		{"an escape that is none", changed(r1, "done", `d\xne`), "not JSON", ""},
		{"a control character", changed(r1, "done", "d\x01ne"), "not JSON", ""},
		{"a mark of byte order", func(d *draft) { e := d.of(r1); e.data = "\ufeff" + e.data }, "not JSON", ""},
		{"an empty line", func(d *draft) { e := d.of(nameRooms); e.data += "\n"; d.lie = func(m *Manifest) {} }, "", ""},
		{"a line without its end", func(d *draft) {
			d.of(nameAgents).data = strings.TrimSuffix(d.of(nameAgents).data, "\n")
		}, "line feed", ""},
		{"two objects in a line", changed(nameAgents, "\n", ""), "not JSON", ""},
		{"a list in a line", changed(nameRuns, `{"id"`, `[{"id"`), "not JSON", ""},
		{"a line that is a list", func(d *draft) { d.of(nameRuns).data = "[1,2,3,4,5,6]\n" }, "no JSON object", ""},
		{"a line that is a number", func(d *draft) { d.of(nameRuns).data = "1234567890\n" }, "no JSON object", ""},
		{"a line that nests deep", changed(r1, `"#m2"`, strings.Repeat("[", 1_000_000)), "nests deeper", ""},
		{"a line that nests deep in objects", changed(r1, `"#m2"`, strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000)), "nests deeper", ""},
		{"lines that end as on Windows, with a name twice", changed(nameAgents, "\n", "\r,\n"), "not JSON", ""},
	}
	var good, bad []hostile
	for _, c := range cases {
		if c.code == "none" {
			good = append(good, c)
		} else {
			bad = append(bad, c)
		}
	}
	refused(t, bad)
	for _, c := range good {
		d := newDraft(t)
		c.do(d)
		if err := readAll(d.build(t), DefaultLimits()); err != nil {
			t.Errorf("%s is refused: %v", c.what, err)
		}
	}
}

// firstLine returns the first line of an entry.
func (d *draft) firstLine(name string) string {
	line, _, _ := strings.Cut(d.of(name).data, "\n")
	return line
}

func countTo(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, 100+i)
	}
	return b.String()
}

// TestMembersAreStrict takes every member of every kind of line, and does to it what a
// careless or hostile writer does.
func TestMembersAreStrict(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	var cases []hostile
	for _, name := range append([]string{nameProject, MessagesPath("r1"), MessagesPath("r2")}, sections...) {
		for n, line := range strings.Split(strings.TrimSuffix(newDraft(t).of(name).data, "\n"), "\n") {
			whole := parseObject(t, line)
			for i, m := range whole {
				replace := func(what string, by ...memberText) {
					changedLine := append(append(append(object{}, whole[:i]...), by...), whole[i+1:]...)
					cases = append(cases, hostile{
						fmt.Sprintf("%s, line %d: %s %s", name, n+1, m.name, what),
						changed(name, line, changedLine.String()), "", "",
					})
				}
				replace("twice", m, m)
				replace("null", memberText{m.name, "null"})
				replace("in upper case", memberText{strings.ToUpper(m.name), m.value})
				replace("also in upper case", m, memberText{strings.ToUpper(m.name), m.value})
				replace("and an unknown member", m, memberText{"x_" + m.name, "1"})
				if m.name != "metadata" {
					replace("of another type", memberText{m.name, `[{"x":1}]`})
				}
			}
		}
	}
	if len(cases) < 300 {
		t.Errorf("there are only %d cases", len(cases))
	}
	refused(t, cases)
}

// TestNeededMembersAreNeeded takes away every member, and looks at which may be absent.
func TestNeededMembersAreNeeded(t *testing.T) {
	optional := 0
	for _, name := range append([]string{nameProject, MessagesPath("r1")}, sections...) {
		line := newDraft(t).firstLine(name)
		whole := parseObject(t, line)
		for i, m := range whole {
			d := newDraft(t)
			d.change(name, line, append(append(object{}, whole[:i]...), whole[i+1:]...).String())
			err := readAll(d.build(t), DefaultLimits())
			var e *hub.Error
			switch {
			case errors.As(err, &e) && e.Code == hub.CodeCapsuleInvalid && strings.Contains(e.Message, "the member "+m.name+" is missing"):
			case strings.Contains("display_name replaced_at run assignee parent result completed_at room key text", m.name):
				optional++
			default:
				t.Errorf("%s without %s: %v", name, m.name, err)
			}
		}
	}
	if optional < 5 {
		t.Errorf("only %d members are optional", optional)
	}
}

// A later minor version only adds members: a reader passes over them, wherever they are.
func TestMembersOfALaterMinorAreIgnored(t *testing.T) {
	later := func(do func(d *draft)) error {
		d := newDraft(t)
		do(d)
		d.lie = func(m *Manifest) { m.Schema.Minor = 7 }
		return readAll(d.build(t), DefaultLimits())
	}
	extra := `"new":{"deep":[1,{"x":null}]},`
	for _, name := range append([]string{nameProject, MessagesPath("r1"), MessagesPath("r2")}, sections...) {
		if err := later(changed(name, `{"`, `{`+extra+`"`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, by := range map[string]string{"twice": extra + extra, "in another case": `"ID":1,"Slug":2,`} {
			if err := later(changed(name, `{"`, `{`+by+`"`)); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
				t.Errorf("%s, a new member %s: %v", name, what, err)
			}
		}
	}
	if err := later(changed("messages/r1.ndjson", `"language":"go"`, `"language":"go","new":1`)); err != nil {
		t.Errorf("a new member of an attachment: %v", err)
	}
	if err := later(func(d *draft) {
		d.raw = func(text string) string { return strings.Replace(text, `{"format"`, `{"new":1,"format"`, 1) }
	}); err != nil {
		t.Errorf("a new member of the manifest: %v", err)
	}
	if err := later(added("asks.ndjson", "")); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
		t.Errorf("a new entry: %v", err)
	}
}

// TestEveryCutIsRefused cuts a capsule at every seventh byte, and at the last ones.
func TestEveryCutIsRefused(t *testing.T) {
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	for n := range raw {
		if n%7 != 0 && n < len(raw)-40 {
			continue
		}
		if err := readAll(raw[:n], DefaultLimits()); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
			t.Fatalf("cut at %d of %d: %v", n, len(raw), err)
		}
	}
}

// TestBitsCount turns every eleventh bit round. What is left is refused, but for the few bits
// that mean nothing: times, which version made an entry, and permissions.
func TestBitsCount(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	want, err := Open(bytes.NewReader(raw), int64(len(raw)), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for i := range raw {
		for bit := range 8 {
			if (8*i+bit)%11 != 0 {
				continue
			}
			raw[i] ^= 1 << bit
			switch err := readAll(raw, DefaultLimits()); {
			case err == nil:
				taken++
				r, _ := Open(bytes.NewReader(raw), int64(len(raw)), DefaultLimits())
				if r.Manifest().ContentDigest != want.Manifest().ContentDigest {
					t.Fatalf("byte %d, bit %d: another content is taken", i, bit)
				}
			case !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) && !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleTooLarge}):
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
			raw[i] ^= 1 << bit
		}
	}
	if taken > len(raw)/30 {
		t.Errorf("%d of %d changed bits are taken", taken, 8*len(raw)/11)
	}
}
