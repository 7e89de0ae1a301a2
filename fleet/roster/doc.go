// Package roster says which machines there are. The setting RUNTIME_MACHINES is one of
//
//	https://host:port#sha256:HEX, https://host:port   a list, separated by commas or blanks
//	file:/path                                        the same, an entry a line; a line that begins with # is a comment
//	dns:name:port#sha256:HEX                          the addresses of a name, as of a headless Service
//
// The fragment is the fingerprint of the machine's certificate: the SHA-256 of its DER. Without one the certificate is
// checked against a CA, for the name or the address that stands in the entry. There is no way without TLS.
//
// A [Source] tells the list at first and at each change, with what is wrong. A source that fails keeps the list that it had:
// machines are not lost because a file or a name server is. No error has what might be a secret.
package roster
