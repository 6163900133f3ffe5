//! The greatest possible work of an expression on given values, estimated before it runs. Without it, a short expression could take
//! hours: two loops inside each other over a long list, or a text that is doubled a hundred times.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::extent::{Extent, Size};
use super::values::Variables;

/// The most steps of one evaluation: some seconds.
const MOST_STEPS: f64 = 3e7;

/// The largest value inside an evaluation, in bytes.
const MOST_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// The bytes of a text that are compared or copied in the time of one step.
const BYTES_OF_A_STEP: f64 = 32.0;

/// The steps of compiling a pattern.
const PATTERN_STEPS: f64 = 10_000.0;

/// The longest text of a number.
const NUMBER_BYTES: f64 = 400.0;

/// Refuses an evaluation that could take too long, or too much memory.
pub fn refuse_excessive_work(program: &IdedExpr, variables: &Variables) -> Result<(), String> {
    let mut estimate = Estimate {
        variables,
        local: Vec::new(),
        steps: 0.0,
        largest: 0.0,
    };
    estimate.extent(program, 1.0);
    if estimate.steps > MOST_STEPS || estimate.largest > MOST_BYTES {
        return Err("it could take too long on a run of this size; use fewer loops inside each other, or fewer copies"
            .to_owned());
    }
    Ok(())
}

struct Estimate<'a> {
    variables: &'a Variables,
    /// The variables of the comprehensions around the part.
    local: Vec<(&'a str, Extent)>,
    steps: f64,
    /// The largest value, in bytes.
    largest: f64,
}

impl<'a> Estimate<'a> {
    /// The extent of a part's value; adds the steps of evaluating it `times` times.
    fn extent(&mut self, part: &'a IdedExpr, times: f64) -> Extent {
        let extent = match &part.expr {
            Expr::Literal(LiteralValue::String(text)) => Extent::text(text.inner().len() as f64),
            Expr::Literal(_) | Expr::Unspecified | Expr::Struct(_) => Extent::SCALAR,
            Expr::Ident(name) => {
                let local = self
                    .local
                    .iter()
                    .rev()
                    .find(|(known, _)| known == name)
                    .map(|(_, extent)| *extent);
                local
                    .or_else(|| self.variables.extent(name))
                    .unwrap_or(Extent::SCALAR)
            }
            Expr::Select(select) => self.extent(&select.operand, times).part(),
            Expr::Call(call) => self.call(call, times),
            Expr::List(list) => {
                let items: Vec<Extent> = list
                    .elements
                    .iter()
                    .map(|item| self.extent(item, times))
                    .collect();
                self.copy(Extent::list(items), times)
            }
            Expr::Map(map) => {
                let entries = map.entries.iter().map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => self
                        .extent(&entry.key, times)
                        .joined(self.extent(&entry.value, times)),
                    EntryExpr::StructField(field) => self.extent(&field.value, times),
                });
                let entries: Vec<Extent> = entries.collect();
                self.copy(Extent::list(entries), times)
            }
            Expr::Comprehension(loop_over) => self.comprehension(loop_over, times),
        };
        self.steps += times;
        self.largest = self.largest.max(extent.whole.bytes);
        extent
    }

    /// Adds the steps of reading or copying a value.
    fn copy(&mut self, value: Extent, times: f64) -> Extent {
        self.steps += times * (value.whole.items + value.whole.bytes / BYTES_OF_A_STEP);
        value
    }

    fn call(&mut self, call: &'a CallExpr, times: f64) -> Extent {
        let target = call.target.iter().map(|target| &**target);
        let parts: Vec<Extent> = target
            .chain(&call.args)
            .map(|part| self.extent(part, times))
            .collect();
        let whole = parts
            .iter()
            .copied()
            .fold(Extent::default(), Extent::joined);
        let result = match call.func_name.as_str() {
            "_?_:_" => {
                return parts
                    .iter()
                    .skip(1)
                    .copied()
                    .fold(Extent::SCALAR, Extent::either);
            }
            "_[_]" => {
                return parts
                    .first()
                    .map_or(Extent::SCALAR, |operand| operand.part());
            }
            "_&&_" | "_||_" | "!_" => return Extent::SCALAR,
            "matches" => {
                self.steps += times * PATTERN_STEPS;
                Extent::SCALAR
            }
            "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "@in" | "contains"
            | "startsWith" | "endsWith" | "size" | "sum" => Extent::SCALAR,
            // Every byte of the text can be replaced.
            "replace" => Extent::text(bytes_of(&parts, 0) * (1.0 + bytes_of(&parts, 2))),
            "join" => Extent::text(bytes_of(&parts, 0) + whole.whole.items * bytes_of(&parts, 1)),
            // Every character can become an item.
            "split" => Extent {
                whole: Size {
                    bytes: bytes_of(&parts, 0) * 8.0,
                    items: bytes_of(&parts, 0),
                },
                inside: Size {
                    bytes: bytes_of(&parts, 0),
                    items: 0.0,
                },
                longest: bytes_of(&parts, 0),
            },
            _ => whole.joined(Extent::text(NUMBER_BYTES)),
        };
        self.copy(whole, times);
        self.copy(result, times)
    }

    fn comprehension(&mut self, loop_over: &'a ComprehensionExpr, times: f64) -> Extent {
        let range = self.extent(&loop_over.iter_range, times);
        let rounds = range.longest;
        let known = self.local.len();
        self.local.push((&loop_over.iter_var, range.part()));
        self.local.extend(
            loop_over
                .iter_var2
                .iter()
                .map(|name| (name.as_str(), range.part())),
        );
        // What the loop collects is at most what every round adds.
        self.local.push((&loop_over.accu_var, Extent::SCALAR));
        let start = self.extent(&loop_over.accu_init, times);
        self.extent(&loop_over.loop_cond, times * rounds);
        let step = self.extent(&loop_over.loop_step, times * rounds);
        let collected = start.joined(step.times(rounds));
        self.local.pop();
        self.local.push((&loop_over.accu_var, collected));
        self.extent(&loop_over.result, times);
        self.local.truncate(known);
        collected
    }
}

/// The bytes of an argument; zero if it is missing.
fn bytes_of(parts: &[Extent], index: usize) -> f64 {
    parts.get(index).map_or(0.0, |part| part.whole.bytes)
}
