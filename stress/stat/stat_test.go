package stat

import "testing"

func TestPercentile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for p, want := range map[int]float64{1: 1, 50: 3, 80: 4, 99: 5, 100: 5} {
		if got := Percentile(values, p); got != want {
			t.Errorf("percentile %d of %v is %v, want %v", p, values, got, want)
		}
	}
	if got := Percentile(nil, 50); got != 0 {
		t.Errorf("percentile of nothing is %v", got)
	}
	if values[0] != 5 {
		t.Error("the values were reordered")
	}
}
