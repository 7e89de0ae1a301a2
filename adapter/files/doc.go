// Package files has the files that messages bring along and replies name.
//
// What comes in stands in one folder under the directory that codex works in, under
// a name that begins with 32 hex digits: what the platform uploads gets random ones,
// and the file of a message those that its message and its place make, so that a
// message that comes twice does not bring its files twice. A file is whole when it
// has its name: it is written under another, brought to the disk and renamed.
//
// Nothing outside of the roots is read or written, whatever symlinks say, and what
// holds secrets is refused by its name: see [Secret].
//
// A [Folder] may be used concurrently. It keeps nothing in memory and starts nothing.
package files
