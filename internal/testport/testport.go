// Package testport hands out ports of loopback for the processes that tests start.
// It is for tests and for the programs that load a hub; it opens no port itself.
package testport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports below the range from which systems choose for who names none (from 32768
// on Linux, from 49152 elsewhere): a listener or a connection of another process
// gets none of them by chance.
const lowest, highest = 20_000, 32_000

// held keeps the sockets of the ports that were taken from being collected.
var (
	mu   sync.Mutex
	held []net.PacketConn
)

// Take returns a port of 127.0.0.1 on which nothing listens. No other process that
// asks here gets it until this one has ended: a socket for datagrams, which nothing
// of a hub uses, holds its number. Goroutines may call it at once.
func Take() (int, error) {
	for range 1000 {
		port := lowest + rand.IntN(highest-lowest)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		hold, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue // taken
		}
		probe, err := net.Listen("tcp4", address)
		if err != nil { // somebody who does not ask here listens
			_ = hold.Close()
			continue
		}
		if err := probe.Close(); err != nil {
			return 0, err
		}
		mu.Lock()
		held = append(held, hold)
		mu.Unlock()
		return port, nil
	}
	return 0, errors.New("no port is free")
}

// Interface returns an IP address of this machine that is not its loopback, or
// nothing where there is none: tests of what lies between skip then, and say so.
func Interface() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	found := ""
	for _, addr := range addrs {
		own, ok := addr.(*net.IPNet)
		if !ok || !own.IP.IsGlobalUnicast() {
			continue
		}
		if own.IP.To4() != nil {
			return own.IP.String()
		}
		found = own.IP.String()
	}
	return found
}
