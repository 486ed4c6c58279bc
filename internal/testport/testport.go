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

// Ports below the range from which systems choose a free port (from 32768 on
// Linux, from 49152 elsewhere): a listener or a connection of another process
// does not get one of them by chance.
const lowest, highest = 20_000, 32_000

// held keeps the sockets of the ports that were taken from being collected.
var (
	mu   sync.Mutex
	held []net.PacketConn
)

// Take returns a port of 127.0.0.1 on which nothing listens. No other process
// that calls Take gets the same port until this process has ended: a UDP
// socket, which a hub never uses, reserves the number. Take is safe for
// concurrent use.
func Take() (int, error) {
	for range 1000 {
		port := lowest + rand.IntN(highest-lowest)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		hold, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue // taken
		}
		probe, err := net.Listen("tcp4", address)
		if err != nil { // a process that does not use Take listens
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
// "" if there is none. Tests that need one are skipped then.
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
