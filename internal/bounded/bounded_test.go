package bounded_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/internal/bounded"
)

// TestMap compares a map with a list of pairs, the last used at the end.
func TestMap(t *testing.T) {
	type pair struct{ key, value int }
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "most")
		m := bounded.New[int, int](most)
		var want []pair
		take := func(key int) (value int, known bool) {
			i := slices.IndexFunc(want, func(p pair) bool { return p.key == key })
			if i < 0 {
				return 0, false
			}
			value = want[i].value
			want = slices.Delete(want, i, i+1)
			return value, true
		}
		key := rapid.IntRange(0, 7)
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				got, known := m.Get(k)
				value, has := take(k)
				if has {
					want = append(want, pair{k, value})
				}
				if got != value || known != has {
					t.Fatalf("key %d is %d, %v; want %d, %v", k, got, known, value, has)
				}
			},
			"put": func(t *rapid.T) {
				p := pair{key.Draw(t, "key"), rapid.Int().Draw(t, "value")}
				m.Put(p.key, p.value)
				take(p.key)
				if want = append(want, p); len(want) > most {
					want = want[1:]
				}
			},
			"values": func(t *rapid.T) {
				var all []int
				for _, p := range slices.Backward(want) {
					all = append(all, p.value)
				}
				if got := m.Values(); !slices.Equal(got, all) {
					t.Fatalf("the values are %v, want %v", got, all)
				}
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				known := m.Delete(k)
				if _, has := take(k); known != has {
					t.Fatalf("key %d was known: %v, want %v", k, known, has)
				}
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					m.Clear()
					want = nil
				}
			},
			"": func(t *rapid.T) {
				if m.Len() != len(want) {
					t.Fatalf("%d keys, want %v", m.Len(), want)
				}
			},
		})
		for _, p := range slices.Clone(want) {
			if got, known := m.Get(p.key); !known || got != p.value {
				t.Fatalf("key %d is %d, %v; want %d", p.key, got, known, p.value)
			}
		}
	})
}

func TestMapNeedsRoom(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a map without room was made")
		}
	}()
	bounded.New[int, int](0)
}
