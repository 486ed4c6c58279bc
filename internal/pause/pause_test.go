package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !For(t.Context(), time.Minute) || time.Since(began) != time.Minute {
			t.Errorf("waited %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if For(ctx, time.Hour) || time.Since(began) != time.Second {
			t.Errorf("waited %s although the context ended after a second", time.Since(began))
		}
		if For(ctx, 0) {
			t.Error("the context had ended before")
		}
	})
}
