//! Which instructions are used.

use crate::error::SpecError;

/// A set of instructions that there is code for. All give the same result, bit for bit, where the conversion is in
/// integers; [`Converter::new`](crate::Converter::new) takes the fastest that the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// What the compiler makes of plain loops for the target it builds for.
    Portable,
    /// AVX2 and FMA, on x86-64.
    Avx2,
}

impl Level {
    /// The levels that this processor can run, slowest first.
    pub fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        if crate::x86::Avx2::detect().is_some() {
            return &[Self::Portable, Self::Avx2];
        }
        &[Self::Portable]
    }

    /// The processor's proof that it can run this level.
    pub(crate) fn resolve(self) -> Result<Cpu, SpecError> {
        match self {
            Self::Portable => Ok(Cpu::Portable),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => crate::x86::Avx2::detect()
                .map(Cpu::Avx2)
                .ok_or(SpecError::Level(self)),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => Err(SpecError::Level(self)),
        }
    }
}

/// A level that the processor was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cpu {
    /// Nothing special.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::x86::Avx2),
}
