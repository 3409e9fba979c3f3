//! What can be wrong with a specification or a frame.

/// The conversion cannot be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// No picture can be converted so.
    #[error(transparent)]
    Picture(#[from] veil_frame::SpecError),
    /// This processor lacks the instructions that were asked for.
    #[error("this processor lacks the instructions of {0:?}")]
    Level(crate::Level),
}

/// The memory is not what the specification promised. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A plane has fewer bytes than its rows need.
    #[error("plane {plane} has {got} bytes where {needed} are needed")]
    PlaneTooShort {
        /// Index of the plane.
        plane: usize,
        /// Bytes that its rows need at its stride.
        needed: usize,
        /// Bytes that are there.
        got: usize,
    },
    /// A plane's rows overlap.
    #[error("plane {plane} has a stride of {got} bytes where its rows need {needed}")]
    PlaneStride {
        /// Index of the plane.
        plane: usize,
        /// Bytes of a row.
        needed: usize,
        /// The stride.
        got: usize,
    },
    /// The output has fewer bytes than its rows need.
    #[error("the output has {got} bytes where {needed} are needed")]
    OutputTooShort {
        /// Bytes that its rows need at its stride.
        needed: usize,
        /// Bytes that are there.
        got: usize,
    },
    /// The output's rows overlap.
    #[error("the output has a stride of {got} bytes where its rows need {needed}")]
    OutputStride {
        /// Bytes of a row.
        needed: usize,
        /// The stride.
        got: usize,
    },
}
