package linear

import (
	"math/rand/v2"
	"testing"
)

// TestOneCycleOfSixStops: a run of 36 cycles has 30 kills, whatever its seed.
func TestOneCycleOfSixStops(t *testing.T) {
	for seed := range uint64(50) {
		r := &run{random: rand.New(rand.NewPCG(seed, 0))}
		kills := 0
		for cycle := range 36 {
			if !r.stops(cycle) {
				kills++
			}
		}
		if kills != 30 {
			t.Errorf("seed %d: %d kills", seed, kills)
		}
	}
}
