package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

// TestAnyOrder: adapters come and go in any order, and a user writes in
// between. When all adapters have gone, only the user's content is there.
func TestAnyOrder(t *testing.T) {
	base := newPlace(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		p := &place{t, base.path(fmt.Sprint(round)), base.store}
		p.must(os.Mkdir(p.home, 0o700))
		start := rapid.SampledFrom([]string{"", "{}", "{\n  \"hooks\": {}\n}\n", "{\r\n\t\"n\": 0 // n\r\n}", "{\"n\":0,\"mcpServers\":{}}", "// n: 0\n", "{\n  \"n\": 0,\n  \"mcpServers\": {\n    \"x\": {},\n  },\n}\n"}).Draw(rt, "start")
		if start != "" {
			p.put("settings.json", start)
		}
		owner := func(i int) Owner { return Owner{Harness: hub.Harnesses()[i], Scope: Global} }
		entry := func(i int, keys []string, mark, value string) Entry {
			return Entry{Owner: owner(i), Root: p.home, File: p.path("settings.json"), Format: edit.JSON, At: edit.Pointer{Keys: keys, Mark: mark}, Value: json.RawMessage(value)}
		}
		written := start
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			i := rapid.IntRange(0, 2).Draw(rt, "owner")
			switch rapid.SampledFrom([]string{"install", "install", "uninstall", "write"}).Draw(rt, "step") {
			case "install":
				version := rapid.SampledFrom([]string{`1`, `{"a":[1,2]}`}).Draw(rt, "value")
				p.must(p.install([]Entry{
					entry(i, []string{"mcpServers", fmt.Sprint("hub", i)}, "", version),
					entry(i, []string{"hooks", "Stop"}, fmt.Sprintf("ours %d", i), fmt.Sprintf(`{"command":"ours %d"}`, i)),
				}, Keep))
			case "uninstall":
				p.must(p.uninstall(owner(i), Keep))
			case "write":
				now := p.get("settings.json")
				for n := range 9 {
					from, to := fmt.Sprintf("n\": %d", n), fmt.Sprintf("n\": %d", n+1)
					if strings.Contains(written, from) && strings.Contains(now, from) {
						written = strings.Replace(written, from, to, 1)
						p.put("settings.json", strings.Replace(now, from, to, 1))
						break
					}
				}
			}
		}
		for i := range 3 {
			p.must(p.uninstall(owner(i), Keep))
		}
		if written == "" {
			written = "-"
		}
		if got := p.get("settings.json"); got != written {
			rt.Fatalf("left is %q, wanted %q", got, written)
		}
		p.must(os.RemoveAll(filepath.Join(base.home, fmt.Sprint(round))))
	})
}
