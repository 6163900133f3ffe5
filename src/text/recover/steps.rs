//! Counts bytes in tests: that time is linear is asserted on the count, not on a clock.

/// Called wherever bytes are looked at, with how many.
#[cfg(test)]
pub(super) fn visit(bytes: usize) {
    super::tests::VISITED.with(|visited| visited.set(visited.get() + bytes));
}

#[cfg(not(test))]
pub(super) fn visit(_bytes: usize) {}
