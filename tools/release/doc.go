// Command release builds the archives of a release: one for each system and
// architecture, with a bill of materials beside it, and the checksums of all. Whoever
// builds the same commit with the same Go gets the same bytes, wherever and whenever.
package main
