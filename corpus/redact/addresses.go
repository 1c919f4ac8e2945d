package redact

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// An address may be written in several ways. Some releases compare the texts, others what they
// mean: each way of writing it stays another one.

// parsed is the address that a text names; false for text that names none, and for those
// that tell nothing of a cluster.
func parsed(text string) (ip netip.Addr, names bool) {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return ip, false
	}
	return ip.Unmap(), true
}

// isPublic tells whether an address is the same everywhere: all addresses, or that of the node itself.
func isPublic(ip netip.Addr) bool { return ip.Zone() == "" && (ip.IsUnspecified() || ip.IsLoopback()) }

func (r *redaction) noteAddress(text string) {
	if ip, names := parsed(text); names && !isPublic(ip) {
		if key := ip.String(); !slices.Contains(r.addresses[key], text) {
			r.addresses[key] = append(r.addresses[key], text)
		}
	}
}

// addressOf is the pseudonym of an address.
func (r *redaction) addressOf(text string) string {
	ip, names := parsed(text)
	switch {
	case !names:
		return r.of(address, text) // validation admits any text
	case isPublic(ip):
		return text
	case r.given == nil:
		r.of(address, ip.String())
		return text
	}
	var number int
	fmt.Sscanf(strings.TrimPrefix(r.of(address, ip.String()), prefixes[address]+"-"), "%d", &number)
	way := min(slices.Index(r.addresses[ip.String()], text), len(ways4)-1)
	if ip.Is4() {
		return fmt.Sprintf(ways4[way], number/256, number%256)
	}
	return fmt.Sprintf(ways6[way], number)
}

// In how many ways one address is written, in the order of the texts. The nets are for
// benchmarks (RFC 2544) and for documents (RFC 3849).
var (
	ways4 = []string{"198.18.%d.%d", "::0:0:ffff:198.18.%d.%d", "::0:ffff:198.18.%d.%d", "::ffff:198.18.%d.%d"}
	ways6 = []string{"2001:0db8::%x", "2001:db8:0:0::%x", "2001:db8:0::%x", "2001:db8::%x"}
)
