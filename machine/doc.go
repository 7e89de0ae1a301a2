// Package machine runs commands for runtimes elsewhere: one HTTPS server, behind a token, with the requests of package wire.
//
// [Run] is its life: the state directory is locked, what an earlier life has left is ended, runtimes are served until it is
// told to drain, turns go on until they have ended or have had their time, and then all that runs for runtimes is ended.
//
// What decides is in package tenancy, what runs in execs, the folders and files in places, and what the machine is
// known by in identity. This package puts them behind HTTP.
package machine
