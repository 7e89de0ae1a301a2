// Package control is the way of people to the machines of a runtime that runs: how they stand, and whether they take turns.
//
//	GET  /machines                [Answer]
//	POST /machines/{name}/drain   a machine takes no new turns: [Done]
//	POST /machines/{name}/undrain it takes them again: [Done]
//
// [Handler] serves these, and the runtime has them twice. Programs call them beside A2A and show its token, as runtime
// machines does by a [Client]; the console's page calls them below /console/api, where a session is asked for in place of
// the token and a program could not come. They are not below /internal: that is the platform's alone.
package control
