//! A shard: the part of the cases that one of several machines runs.

use std::fmt;
use std::str::FromStr;

use super::input_limit::InputLimit;

/// Shard `number` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u32,
    of: u32,
}

const MOST: u32 = InputLimit::SHARDS.most as u32;

impl Shard {
    /// The number of the shard, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the case with this number belongs to the shard; each belongs to exactly one.
    pub fn has(self, number: u64) -> bool {
        number % u64::from(self.of) + 1 == u64::from(self.number)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST => {
                Ok(Self { number, of })
            }
            Some(_) | None => Err(format!(
                "{text:?} is not a valid shard; write i/n, such as 1/4, with 1 <= i <= n <= {MOST}"
            )),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn each_number_belongs_to_exactly_one_shard() {
        for of in 1..6 {
            let all: Vec<Shard> = (1..=of)
                .map(|number| format!("{number}/{of}").parse().unwrap())
                .collect();
            assert!(
                (0..50).all(|number| all.iter().filter(|shard| shard.has(number)).count() == 1)
            );
        }
        assert!("1000/1000".parse::<Shard>().is_ok(), "the limit itself");
        for bad in [
            "", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "1/1001", "-1/2", "1/ 2",
        ] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
