package settings

import (
	"net/netip"
	"strings"
)

// networks reads a list of CIDR ranges. An address alone is a range of one.
func networks(list string) (all []netip.Prefix, ok bool) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(item)
		if err != nil {
			addr, err := netip.ParseAddr(item)
			if err != nil || addr.Zone() != "" {
				return nil, false
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		all = append(all, prefix.Masked())
	}
	return all, true
}
