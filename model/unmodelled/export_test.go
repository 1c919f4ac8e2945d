package unmodelled

// ModelledGates is modelledGates, for tests.
var ModelledGates = modelledGates
