package capsules

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hubcli/hub"
)

// TestNumbersOfMessages compares the numbers of ids with those of a sorted list.
func TestNumbersOfMessages(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		var r idRanks
		var list ranks[hub.MessageID]
		spread := []int64{70, 1 << 16, 1 << 20}[seed%3]
		for range random.IntN(2_000) {
			id := 1 + hub.MessageID(random.Int64N(spread))
			if random.IntN(3) == 0 { // ids stand together
				id = hub.MessageID(1<<17 - 40 + random.IntN(80))
			}
			r.add(id)
			list = append(list, id)
		}
		list.settle()
		r.settle()
		ask := append(slices.Clone(list), 0, -1, 1, 64, 1<<16, 1<<20, 1<<40, hub.MaxMessageID)
		for range 500 {
			ask = append(ask, hub.MessageID(random.Int64N(spread+10)))
		}
		for _, id := range ask {
			got, ok := r.of(id)
			want, in := list.of(id)
			if ok != in || ok && got != want {
				t.Fatalf("seed %d: id %d has the number %d (%v), want %d (%v)", seed, id, got, ok, want, in)
			}
		}
	}
}

// TestNumbersTakeLittleMemory for a million ids, however far the ids of the hub go.
func TestNumbersTakeLittleMemory(t *testing.T) {
	size := func(of func(r *idRanks)) uint64 {
		var r idRanks
		of(&r)
		bytes := uint64(8 * cap(r.stretches))
		for _, s := range r.stretches {
			if s != nil {
				bytes += 8*stretchWords + 2*stretchWords + 8
			}
		}
		return bytes
	}
	if got := size(func(r *idRanks) {
		for id := range hub.MessageID(1_000_000) {
			r.add(id + 1)
		}
	}); got > 200<<10 {
		t.Errorf("a million ids take %d bytes", got)
	}
	if got := size(func(r *idRanks) {
		for id := range hub.MessageID(20_000) {
			r.add(1_000 * (id + 1))
		}
	}); got > 4<<20 {
		t.Errorf("20,000 of 20,000,000 ids take %d bytes", got)
	}
}
