// Package archtest holds the tests of the module's shape.
package archtest
