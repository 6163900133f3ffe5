//! The codes of problems, as `goldgate explain` shows them.

use super::plain::put;
use crate::diag::{Code, code_sections};

/// A code with its cause, an example and the fix.
pub fn explained_code(code: Code) -> String {
    let (mut out, text) = (String::new(), code.text());
    put(&mut out, code.as_str());
    put(&mut out, &format!("  cause:   {}", text.cause));
    put(&mut out, &format!("  example: {}", text.example));
    put(&mut out, &format!("  fix:     {}", text.fix));
    out
}

/// All codes with their causes, by section.
pub fn listed_codes() -> String {
    let width = Code::all()
        .map(|code| code.as_str().len())
        .max()
        .unwrap_or_default();
    let mut out = String::new();
    for section in code_sections() {
        put(
            &mut out,
            &format!("{}: {}", section.title, section.about.trim_end_matches('.')),
        );
        for code in section.codes {
            put(
                &mut out,
                &format!("  {:width$}  {}", code.as_str(), code.text().cause),
            );
        }
        out.push('\n');
    }
    put(
        &mut out,
        "`goldgate explain CODE` shows an example and the fix",
    );
    out
}
