//go:build unix && carries

package main

import _ "embed"

// carried is the whole program, compressed by gzip. The builder puts it there.
//
//go:embed whole.gz
var carried []byte
