//! Values of options that several commands have.

/// A number of samples; `None` for an empty text, such as a variable that a workflow leaves empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Samples(pub Option<u32>);

/// Parses a number of samples, from 1 to 1000, or an empty text.
pub fn samples(text: &str) -> Result<Samples, String> {
    if text.is_empty() {
        return Ok(Samples(None));
    }
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(Samples(Some(number))),
        Ok(_) | Err(_) => Err("use a number from 1 to 1000 here or in GOLDGATE_SAMPLES".to_owned()),
    }
}

/// Parses an amount in US dollars, finite and not negative.
pub fn dollars(text: &str) -> Result<f64, String> {
    let amount = text
        .parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "write US dollars, such as 2.50".to_owned())
}
