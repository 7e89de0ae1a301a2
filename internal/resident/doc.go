// Package resident measures what a process has in memory, in bytes, and what those have that it has started. Pages that
// processes share are counted for each.
package resident
