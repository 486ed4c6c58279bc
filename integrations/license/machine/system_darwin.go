package machine

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// systemID asks the system for the id of the hardware.
func systemID() (string, error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.Contains(name, `"IOPlatformUUID"`) {
			return strings.Trim(strings.TrimSpace(value), `"`), nil
		}
	}
	return "", ErrNoID
}
