// Package leasetest holds files as a command can that may only read them, for tests of what
// becomes of their readers.
package leasetest
