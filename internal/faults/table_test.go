package faults

import "slices"

// faults are all mistakes.
var faults = slices.Concat(hubFaults, relayFaults, wakeFaults, roomFaults, editFaults, spawnFaults, mcpFaults, toolFaults, adapterFaults, listFaults)
