// Package respond writes the answers of all routes that are no results of calls: JSON, and
// refusals in the words of the binding that a path belongs to. It knows which path belongs to
// which binding.
package respond
