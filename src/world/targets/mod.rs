//! Live targets: how a run is obtained from a process, an agent behind HTTP, or a model. One call each; who calls when,
//! how often and how many at once is the engine's affair.
