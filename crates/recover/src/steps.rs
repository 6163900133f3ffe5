//! Counts visited bytes in tests, which assert linear time on this count instead of a clock.

/// Called with the number of bytes wherever bytes are examined.
#[cfg(test)]
pub(super) fn visit(bytes: usize) {
    super::tests::VISITED.with(|visited| visited.set(visited.get() + bytes));
}

#[cfg(not(test))]
pub(super) fn visit(_bytes: usize) {}
