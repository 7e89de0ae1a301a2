package roster

// ParseDNS reads what stands behind dns:, for a resolver of the tests.
func ParseDNS(text string, r Resolver) (Source, error) { return parseDNS(text, r) }
