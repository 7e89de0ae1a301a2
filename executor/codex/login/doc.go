// Package login has what codex comes to the model with: the account that it has and the file with its
// credential, the login that people are asked for when the model refuses that, and its renewal.
package login
