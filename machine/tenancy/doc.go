// Package tenancy decides which runtimes a machine works for, and until when: pure policy, over an interface for what runs.
//
// A runtime is there by a [Stay], which belongs to one epoch of it: from the start of its process, or from when it took this
// machine for lost. A stay begins with the first request of its epoch, and ends with the first of a later one, or when it
// has no watch for [wire.Silence]. With its end its turns are over, its connections and requests are ended by its context, and
// what runs for it is ended ([Work.End]); no other stay of the runtime begins before nothing of that is left.
//
// All methods may be called concurrently. [Tenants.Close] ends every stay and waits for that.
package tenancy
