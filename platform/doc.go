// Package platform is the client of the Molecule platform's HTTP interface, as one
// workspace uses it.
//
// Each request carries the workspace's bearer token, which is read afresh: the
// platform replaces it whenever it starts the workspace's container anew. A 401
// has it read once more, for the file may be written while we ask. Nothing else is
// tried again here; whoever calls knows whether that is safe.
//
// Errors are of the type [Error] where the platform has answered. They hold the
// head of its answer, never what was sent.
package platform
