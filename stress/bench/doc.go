// Package bench measures the built executable over HTTP on loopback and, in the
// same run, a ceiling that only decodes and answers. The machine is shared and
// noisy, so that absolute numbers say little: hub and ceiling take turns, round
// by round, and the figure is the median of the rounds' ratios.
//
// Every load is a closed loop, in which an agent sends its next request when it
// has read the last answer, and is bounded in count and in time. An answer that
// is not what the load expects ends the figure with an error: a server that
// refuses fast is not fast.
package bench
