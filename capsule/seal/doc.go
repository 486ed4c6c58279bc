// Package seal signs capsules as minisign does and encrypts them as age does: with the
// libraries of these formats, and no cryptography of its own. So people can check and open
// what it makes with the programs minisign and age, and the other way round.
//
// What it reads may come from anybody: every text has a bound, and a signature or a header
// that is not as its format says is a hub.Error. No error has a part of a secret. The package
// keeps no file, and its functions may be called by any goroutine.
package seal
