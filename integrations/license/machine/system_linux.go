package machine

import "hubcli/internal/osfile"

// systemID reads the id that is made when the system is installed.
func systemID() (string, error) {
	const limit = 256 // bytes
	var last error
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		b, err := osfile.ReadSmallLinked(file, limit)
		if err == nil {
			return string(b), nil
		}
		last = err
	}
	return "", last
}
