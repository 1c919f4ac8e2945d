// Package campaign checks generated clusters for hours: with several processes,
// in a directory from which it goes on after any interruption, and so that each
// cause of findings comes out once, small, and with the command that shows it.
//
// What comes out depends only on the seed and on how many clusters were checked,
// not on the number of workers or on interruptions: clusters are checked in any
// order, but counted and minimised in the order of their numbers. Only which of
// equally good nodes the scheduler picks is left to chance.
package campaign
