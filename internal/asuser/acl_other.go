//go:build !linux

package asuser

import "os"

// closesWhatIsMade is for Linux, where codex's sandbox lets commands set such an ACL.
func closesWhatIsMade(*os.File) bool { return false }

func mayHaveDefaultACL(string) bool { return false }

func takeDefaultACL(*os.File) error { return nil }
