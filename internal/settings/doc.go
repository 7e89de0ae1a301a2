// Package settings reads the environment once, at start, into one struct.
//
// The struct [Settings] is the table of settings: its tags hold each
// variable's name, default, bounds and explanation, and the help text,
// docs/settings.md and the check for unknown names are all made from them. A
// new setting is one field.
//
// Nothing here reads the process's environment: [Load] is given it. What Load
// returns is complete (defaults applied, paths absolute, "auto" decided) and
// is not changed afterwards, so it may be read from anywhere. Secrets are of
// type [Secret] and do not print.
package settings
