//go:build !unix

package folders

import "testing"

func pipe(t *testing.T, _ string) { t.Skip("needs named pipes") }
