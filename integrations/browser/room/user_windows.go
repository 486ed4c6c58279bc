package room

// runAs returns nil: engines run as the hub.
func runAs() (*[2]uint32, error) { return nil, nil }
