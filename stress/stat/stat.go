// Package stat condenses what the programs of stress have measured. It keeps nothing and may
// be used from any goroutine.
package stat

import (
	"slices"
	"time"
)

// Median returns the middle value, of an even number the lower of the two; 0 of none.
func Median(values []float64) float64 { return Percentile(values, 50) }

// Percentile returns the smallest value that p of a hundred do not exceed; 0 of none.
func Percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Milliseconds converts for reading.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
