package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint is how a certificate is known that a runtime trusts for itself and not for who has signed it: "sha256:" and
// 64 hexadecimal digits, of the certificate in DER.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}
