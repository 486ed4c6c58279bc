// Package ceiling is the server that bounds what any hub in this language could
// reach: net/http that decodes the same JSON and answers an envelope of the same
// shape and size, with the least state that gives the answers a meaning. It
// stores nothing, checks nothing, and forgets everything when it ends. Beside the
// bridge stands a bare server of the SDK that the bridge is made with.
//
// Its handlers run concurrently, like those of any net/http server. It listens
// on loopback only and is never part of the product.
package ceiling
