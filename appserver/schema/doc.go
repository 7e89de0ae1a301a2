// Package schema reads what a codex says of its protocol: the folder of JSON schemas that
// `codex app-server generate-json-schema --experimental` writes, a file for each type. It answers what a
// type of Go needs of such a file, and what methods there are. Pure but for the files that it reads.
package schema
