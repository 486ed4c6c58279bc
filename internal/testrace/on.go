//go:build race

package testrace

const on = true
