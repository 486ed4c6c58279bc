// Package target says for which platforms the executable is made and how large it may
// be. It holds constants alone.
package target

// Platforms lists the platforms of the executable, each as GOOS/GOARCH. All are built
// without cgo.
var Platforms = []string{
	"linux/amd64", "linux/arm64",
	"darwin/amd64", "darwin/arm64",
	"windows/amd64", "windows/arm64",
}

// MaxExecutable is how many bytes the stripped executable may have: 32 MiB for the hub, and 8 MiB for what
// speaks to providers, credential stores, license servers and browsers. What grows it beyond
// needs a reason; go run ./internal/release weigh says what takes space.
const MaxExecutable = 40 << 20
