//! The help of the command line: commands in groups, with an example each. The page of the manual and of the docs have the same texts.

use clap::{Command, CommandFactory};

use super::Cli;

/// Commands for one purpose.
struct CommandGroup {
    title: &'static str,
    /// The names of the commands, each with an example; the most used ones first.
    commands: &'static [(&'static str, &'static str)],
}

/// All commands that the help lists.
const GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        title: "Every day",
        commands: &[
            ("run", "goldgate run --base main"),
            ("explain", "goldgate explain support/helper/refund"),
            ("review", "goldgate review --accept 'refund-*'"),
            ("record", "goldgate record --missing -- python agent.py"),
            (
                "import",
                "goldgate import transcripts/ --out golden/runs --agent helper",
            ),
            ("stamp", "goldgate stamp --agent helper --stale"),
        ],
    },
    CommandGroup {
        title: "Start",
        commands: &[
            ("demo", "goldgate demo"),
            (
                "init",
                "goldgate init --from transcripts/ --files 'prompts/**'",
            ),
            ("check", "goldgate check"),
        ],
    },
    CommandGroup {
        title: "Golden set",
        commands: &[
            ("selftest", "goldgate selftest --suite support"),
            ("calibrate", "goldgate calibrate --agent helper"),
            ("label", "goldgate label --suite support --count 10"),
            ("judge", "goldgate judge --suite support"),
        ],
    },
    CommandGroup {
        title: "Results",
        commands: &[
            ("diff", "goldgate diff main HEAD"),
            (
                "history",
                "goldgate history --agent helper --html history.html",
            ),
            ("report", "goldgate report out --verbose"),
            ("merge", "goldgate merge shard-1 shard-2"),
            (
                "baseline",
                "goldgate baseline import numbers.json --suite support",
            ),
        ],
    },
    CommandGroup {
        title: "Other",
        commands: &[
            ("action", "INPUT_MODE=gate goldgate action"),
            ("repair", "goldgate repair < answer.txt"),
            ("schema", "goldgate schema config"),
            ("completions", "source <(goldgate completions bash)"),
            ("man", "goldgate man run"),
            ("help", ""),
        ],
    },
];

/// The width of the list of commands, in characters.
const WIDTH: usize = 100;

/// The command line with its help.
pub fn command_line() -> Command {
    let mut whole = Cli::command();
    for (name, example) in GROUPS.iter().flat_map(|group| group.commands) {
        if whole.find_subcommand(name).is_some() {
            let example = format!("Example: {example}");
            whole = whole.mut_subcommand(name, |command| command.after_help(example));
        }
    }
    // `build` adds the command `help`, which has no example.
    let mut built = whole.clone();
    built.build();
    let list = listed(&built);
    whole.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\nStart with: goldgate demo\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

/// The groups with the commands that this build has, and what each does.
fn listed(whole: &Command) -> String {
    let longest = GROUPS.iter().flat_map(|group| group.commands);
    let longest = longest.map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for group in &GROUPS {
        out.push_str(&format!("{}:\n", group.title));
        let commands = group.commands.iter();
        for command in commands.filter_map(|(name, _)| whole.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let name = command.get_name();
            let indent = longest + 4;
            out.push_str(&format!("  {name:longest$}  "));
            out.push_str(&wrapped(&about, WIDTH - indent, indent));
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

/// A text in lines of a width; those after the first are indented.
fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::GROUPS;
    use crate::app::cli::Cli;

    #[test]
    fn each_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.commands)
            .map(|(name, _)| *name)
            .collect();
        grouped.sort_unstable();
        let mut whole = Cli::command();
        whole.build();
        let mut commands: Vec<&str> = whole
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn every_example_is_a_command_line_that_is_accepted() {
        let examples = GROUPS.iter().flat_map(|group| group.commands);
        for (name, example) in examples.filter(|(_, example)| example.starts_with("goldgate ")) {
            let words: Vec<&str> = example
                .split(" < ")
                .next()
                .unwrap_or_default()
                .split(' ')
                .collect();
            assert_eq!(words.get(1), Some(name), "{example}");
            let parsed = Cli::command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{example}: {parsed:?}");
        }
    }
}
