// Package credstore keeps secrets where the operating system keeps them: in the
// Secret Service on Linux, in the Keychain on macOS and in the Credential Manager on
// Windows. A machine without such a store can have an encrypted file in its place, if the
// environment names one. The package also reads secrets from variables of this process's environment.
//
// A reference says where a secret is: "os:NAME" in the system's store, "env:NAME" in a
// variable. A reference is no secret and may be stored and shown.
//
// A Store may be used by several goroutines at once. Every call ends within the time
// limit, also while the system waits for a password that nobody types. The package never
// starts a message bus, never falls back to another place than the reference names, and
// puts no secret into an error.
package credstore
