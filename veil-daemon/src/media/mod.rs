//! What is done away from the loop: looking at files, decoding stills, building and tearing down pipelines.

pub(crate) mod copy;
pub(crate) mod dump;
pub(crate) mod kind;
pub(crate) mod load;
mod plain;
pub(crate) mod playlist;
pub(crate) mod still;
pub(crate) mod worker;
