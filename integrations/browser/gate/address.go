package gate

import (
	"net/netip"
	"slices"
	"sync"
)

// special are the ranges that are no place of the public internet, as the registries of
// special purpose addresses list them. Ranges that carry an IPv4 address within one of
// IPv6 are among them: what they lead to is another network's decision.
var special = sync.OnceValue(func() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),       // this network
		netip.MustParsePrefix("10.0.0.0/8"),      // private
		netip.MustParsePrefix("100.64.0.0/10"),   // shared by the customers of a carrier
		netip.MustParsePrefix("127.0.0.0/8"),     // loopback
		netip.MustParsePrefix("169.254.0.0/16"),  // link-local
		netip.MustParsePrefix("172.16.0.0/12"),   // private
		netip.MustParsePrefix("192.0.0.0/24"),    // protocols
		netip.MustParsePrefix("192.0.2.0/24"),    // documentation
		netip.MustParsePrefix("192.31.196.0/24"), // AS112
		netip.MustParsePrefix("192.52.193.0/24"), // AMT
		netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
		netip.MustParsePrefix("192.168.0.0/16"),  // private
		netip.MustParsePrefix("192.175.48.0/24"), // AS112
		netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"), // documentation
		netip.MustParsePrefix("203.0.113.0/24"),  // documentation
		netip.MustParsePrefix("224.0.0.0/4"),     // multicast
		netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast

		netip.MustParsePrefix("2001::/23"),     // protocols, Teredo
		netip.MustParsePrefix("2001:db8::/32"), // documentation
		netip.MustParsePrefix("2002::/16"),     // 6to4
		netip.MustParsePrefix("2620:4f:8000::/48"),
		netip.MustParsePrefix("3fff::/20"), // documentation
	}
})

// global is what of IPv6 is given out for the public internet.
var global = sync.OnceValue(func() netip.Prefix {
	return netip.MustParsePrefix("2000::/3")
})

// keyHolders are the addresses at which the machines of clouds get their configuration
// and their keys. Some of them are public by the registries.
var keyHolders = sync.OnceValue(func() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("169.254.0.0/16"),     // link-local: most clouds
		netip.MustParsePrefix("fe80::/10"),          // link-local
		netip.MustParsePrefix("168.63.129.16/32"),   // Azure's wire server
		netip.MustParsePrefix("100.100.100.200/32"), // Alibaba Cloud
		netip.MustParsePrefix("192.0.0.192/32"),     // Oracle Cloud
		netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon
		netip.MustParsePrefix("fd20:ce::254/128"),   // Google Cloud
		netip.MustParsePrefix("fd00:c1::/32"),       // Oracle Cloud
		netip.MustParsePrefix("fd00:42::42/128"),    // Scaleway
	}
})

// Public reports whether an address is one of the public internet.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsValid() || a.Is6() && !global().Contains(a) {
		return false
	}
	return !within(special(), a) && !within(keyHolders(), a)
}

// neverByName reports whether an address is refused also for a name that the operator
// allows: no server of a developer is there, and what is there gives out keys.
func neverByName(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return !a.IsValid() || a.IsMulticast() || a.IsUnspecified() || within(keyHolders(), a)
}

func within(ranges []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}
