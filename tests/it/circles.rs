//! The files that use each other: in no circle, and within `app` from the commands downwards.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;

use crate::tidy::sources;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("no files of src use each other in a circle", no_circles),
        trial(
            "a circle is found through a use, a path and a re-export",
            circles_are_found,
        ),
        trial("commands use lower rooms, and never each other", app_floors),
    ]
}

type Module = Vec<String>;

/// What a path leads to.
#[derive(Clone)]
enum Target {
    Module(Module),
    /// An item, by the module that defines it.
    Item(Module),
}

struct Import {
    path: Vec<String>,
    is_reexport: bool,
}

/// A source file: what it defines, what it imports, and the paths in its code.
#[derive(Default)]
struct Source {
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<Import>>,
    paths: BTreeSet<Vec<String>>,
}

type Sources = BTreeMap<Module, Source>;
type Arrows = BTreeMap<Module, BTreeMap<Module, BTreeSet<String>>>;

fn no_circles() {
    let arrows = arrows(&read(
        sources()
            .into_iter()
            .map(|(path, text)| (path.display().to_string(), text)),
    ));
    let count: usize = arrows.values().map(BTreeMap::len).sum();
    assert!(
        count > 1_500,
        "only {count} arrows between {} files",
        arrows.len()
    );
    let circles = circles(&arrows);
    assert!(
        circles.is_empty(),
        "files that use each other:\n{}",
        circles.join("\n")
    );
}

fn circles_are_found() {
    let found = |files: &[(&str, &str)]| {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        circles(&arrows(&read(files))).len()
    };
    let user = ("src/a/user.rs", "use super::Word;\nfn user(_: Word) {}");
    let by_use = (
        "src/a/mod.rs",
        "mod user;\nuse self::user::user;\npub struct Word;",
    );
    assert_eq!(found(&[by_use, user]), 1);
    let by_path = (
        "src/a/mod.rs",
        "mod user;\npub struct Word;\nfn own() { user::user(Word); }",
    );
    assert_eq!(found(&[by_path, user]), 1);
    let word = ("src/a/word.rs", "pub struct Word;");
    let reexport = (
        "src/a/mod.rs",
        "mod user;\nmod word;\nuse self::user::user;\npub use self::word::Word;",
    );
    assert_eq!(found(&[reexport, word, user]), 0);
    let circle = (
        "src/a/word.rs",
        "pub struct Word;\nfn two() { super::user::user(Word) }",
    );
    assert_eq!(found(&[reexport, circle, user]), 1);
    let in_tests = "pub struct Word;\n#[cfg(test)]\nmod tests {\n    use super::super::user::user;\n}\n// user::user\n";
    assert_eq!(found(&[reexport, ("src/a/word.rs", in_tests), user]), 0);
}

/// The floors of `app`, from the bottom: a room uses only lower ones.
const FLOORS: &[&[&str]] = &[&["cli"], &["base_commit"], &["commands"], &["demo"]];

fn app_floors() {
    let arrows = arrows(&read(
        sources()
            .into_iter()
            .map(|(path, text)| (path.display().to_string(), text)),
    ));
    let floor = |room: &String| {
        FLOORS
            .iter()
            .position(|rooms| rooms.contains(&room.as_str()))
    };
    let mut wrong = Vec::new();
    for (from, to, names) in arrows
        .iter()
        .flat_map(|(from, all)| all.iter().map(move |(to, names)| (from, to, names)))
    {
        let ([app, own, ..], [other_app, other, ..]) = (from.as_slice(), to.as_slice()) else {
            continue;
        };
        if app != "app" || other_app != "app" {
            continue;
        }
        let allowed = match (floor(own), floor(other)) {
            (Some(_), Some(_)) if own == other => own != "commands" || from.get(2) == to.get(2),
            (Some(above), Some(below)) => below < above,
            (None, _) | (_, None) => panic!("{own} or {other} has no floor in app"),
        };
        if !allowed {
            wrong.push(format!(
                "{} must not use {}: {names:?}",
                from.join("::"),
                to.join("::")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads files by their paths. Modules that are only compiled for tests do not count.
fn read(files: impl Iterator<Item = (String, String)>) -> Sources {
    let mut found: Sources = BTreeMap::new();
    for (path, text) in files {
        let path = path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut module: Module = path.split('/').map(str::to_owned).collect();
        if ["mod", "lib"].contains(&module[module.len() - 1].as_str()) {
            module.pop();
        }
        if module != ["main"] && !module.contains(&"tests".to_owned()) {
            found.insert(module, source(&tokens(&text)));
        }
    }
    found
}

/// The words and signs of a text, without comments, texts and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut rest = text;
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let raw = rest
            .strip_prefix("br")
            .or(rest.strip_prefix('r'))
            .filter(|raw| raw.trim_start_matches('#').starts_with('"'));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = raw {
            let hashes = raw.len() - raw.trim_start_matches('#').len();
            let end = format!("\"{}", "#".repeat(hashes));
            let from = rest.len() - raw.len() + hashes + 1;
            from + rest[from..].find(&end).unwrap() + end.len()
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|char| {
                let ends = char == '"' && !escaped;
                escaped = char == '\\' && !escaped;
                ends
            });
            end.unwrap() + 2
        } else if first == '\'' {
            let inner: Vec<char> = rest.chars().skip(1).take(2).collect();
            match inner.as_slice() {
                ['\\', _] => 3 + rest[3..].find('\'').unwrap() + 1,
                [letter, '\''] => letter.len_utf8() + 2,
                _ => {
                    1 + rest[1..]
                        .find(|char| !is_word(char))
                        .unwrap_or(rest.len() - 1)
                }
            }
        } else if is_word(first) {
            let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            end
        } else {
            let length = if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() {
                found.push(rest[..length].to_owned());
            }
            length
        };
        rest = &rest[length..];
    }
    found
}

fn source(tokens: &[String]) -> Source {
    let mut source = Source::default();
    let at = |index: usize| tokens.get(index).map_or("", String::as_str);
    let (mut index, mut depth) = (0, 0);
    while index < tokens.len() {
        match at(index) {
            "#" if at(index + 1) == "[" && at(index + 2) == "cfg" => {
                let end = index
                    + tokens[index..]
                        .iter()
                        .position(|token| token == "]")
                        .unwrap();
                let for_tests = tokens[index..end].iter().any(|token| token == "test");
                index = if for_tests {
                    after_item(tokens, end + 1)
                } else {
                    end + 1
                };
                continue;
            }
            "use"
                if index == 0
                    || ["pub", ")", ";", "}", "{", "]"].contains(&at(index - 1))
                        && at(index + 1) != "<" =>
            {
                let is_reexport = index > 0 && ["pub", ")"].contains(&at(index - 1));
                index = imports(tokens, index + 1, &[], is_reexport, &mut source) + 1;
                continue;
            }
            "mod" => assert!(
                at(index + 2) == ";",
                "the module {} is inside of a file",
                at(index + 1)
            ),
            "{" => depth += 1,
            "}" => depth -= 1,
            "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" if depth == 0 => {
                source.items.insert(at(index + 1).to_owned());
            }
            _ => {}
        }
        let is_head = is_name(at(index)) && !(index > 0 && DEFINES.contains(&at(index - 1)));
        if is_head {
            let mut path = vec![at(index).to_owned()];
            while at(index + 1) == "::" && is_name(at(index + 2)) {
                path.push(at(index + 2).to_owned());
                index += 2;
            }
            source.paths.insert(path);
        }
        index += 1;
    }
    source
}

/// What is before a name that does not begin a path.
const DEFINES: &[&str] = &[
    "::", ".", "fn", "mod", "struct", "enum", "trait", "type", "const", "static",
];

fn is_name(token: &str) -> bool {
    token.starts_with(|char: char| char.is_alphabetic() || char == '_')
}

/// The index after an item with braces or a semicolon.
fn after_item(tokens: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(from) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (token == ";" || token == "}") {
            return index + 1;
        }
    }
    tokens.len()
}

/// Reads an import tree; returns the index of the token that ends it.
fn imports(
    tokens: &[String],
    from: usize,
    before: &[String],
    is_reexport: bool,
    source: &mut Source,
) -> usize {
    let mut path = before.to_vec();
    let mut index = from;
    loop {
        match tokens[index].as_str() {
            "{" => {
                index += 1;
                while tokens[index] != "}" {
                    index = imports(tokens, index, &path, is_reexport, source);
                    index += usize::from(tokens[index] == ",");
                }
                return index + 1;
            }
            "::" => {}
            "as" => {
                let alias = tokens[index + 1].clone();
                source
                    .imports
                    .entry(alias)
                    .or_default()
                    .push(Import { path, is_reexport });
                return index + 2;
            }
            "," | "}" | ";" => {
                path.retain(|part| part != "self" || before.is_empty());
                let name = path.last().cloned().unwrap();
                source
                    .imports
                    .entry(name)
                    .or_default()
                    .push(Import { path, is_reexport });
                return index;
            }
            part => path.push(part.to_owned()),
        }
        index += 1;
    }
}

/// What a path in a module leads to, as far as it stays in src.
fn resolve(files: &Sources, module: &[String], path: &[String], depth: usize) -> Vec<Target> {
    let Some((first, rest)) = path.split_first().filter(|_| depth < 20) else {
        return Vec::new();
    };
    let mut found = match first.as_str() {
        "crate" => vec![Target::Module(Vec::new())],
        "self" => vec![Target::Module(module.to_vec())],
        "super" => vec![Target::Module(module[..module.len() - 1].to_vec())],
        name => member(files, module, name, depth),
    };
    for name in rest {
        let next = found.into_iter().flat_map(|target| match target {
            Target::Module(module) if name == "super" => {
                vec![Target::Module(module[..module.len() - 1].to_vec())]
            }
            Target::Module(module) => member(files, &module, name, depth),
            // A constant or function of an item: the path up to the item counts.
            Target::Item(_) => Vec::new(),
        });
        found = next.collect();
    }
    found
}

/// What a name in a module means: a module below, an item, or an import.
fn member(files: &Sources, module: &[String], name: &str, depth: usize) -> Vec<Target> {
    let Some(source) = files.get(module) else {
        return Vec::new();
    };
    let below = [module, &[name.to_owned()]].concat();
    let mut found = Vec::new();
    if files.contains_key(&below) {
        found.push(Target::Module(below));
    }
    if source.items.contains(name) {
        found.push(Target::Item(module.to_vec()));
    }
    for import in source
        .imports
        .get(name)
        .into_iter()
        .flatten()
        .filter(|import| import.path != [name])
    {
        found.extend(resolve(files, module, &import.path, depth + 1));
    }
    found
}

/// Which file uses which, and by which names. A re-export counts only where it is used.
fn arrows(files: &Sources) -> Arrows {
    let mut arrows: Arrows = BTreeMap::new();
    for (module, source) in files {
        let own = arrows.entry(module.clone()).or_default();
        let imported = source
            .imports
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |import| (name, import)));
        let imported = imported.filter(|(name, import)| {
            !import.is_reexport || source.paths.iter().any(|path| path.first() == Some(name))
        });
        let paths = source.paths.iter().filter(|path| path.len() > 1);
        for path in imported.map(|(_, import)| &import.path).chain(paths) {
            let longest = (1..=path.len())
                .rev()
                .map(|length| resolve(files, module, &path[..length], 0));
            for target in longest
                .into_iter()
                .find(|found| !found.is_empty())
                .unwrap_or_default()
            {
                let (Target::Module(used) | Target::Item(used)) = target;
                if used != *module && !used.is_empty() {
                    own.entry(used)
                        .or_default()
                        .insert(path[path.len() - 1].clone());
                }
            }
        }
    }
    arrows
}

/// The groups of files that reach each other (Tarjan), each with its arrows.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut search = Search::default();
    for module in arrows.keys() {
        if !search.index.contains_key(module) {
            search.visit(arrows, module);
        }
    }
    let shown = |circle: &BTreeSet<&Module>| {
        let mut lines = String::new();
        for from in circle {
            for (to, names) in arrows[*from].iter().filter(|(to, _)| circle.contains(to)) {
                lines += &format!(
                    "    {} uses {}: {names:?}\n",
                    from.join("::"),
                    to.join("::")
                );
            }
        }
        lines
    };
    search.found.iter().map(shown).collect()
}

#[derive(Default)]
struct Search<'a> {
    index: BTreeMap<&'a Module, usize>,
    low: BTreeMap<&'a Module, usize>,
    open: Vec<&'a Module>,
    found: Vec<BTreeSet<&'a Module>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, arrows: &'a Arrows, module: &'a Module) {
        let own = self.index.len();
        self.index.insert(module, own);
        self.low.insert(module, own);
        self.open.push(module);
        for used in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
            if !self.index.contains_key(used) {
                self.visit(arrows, used);
                self.low
                    .insert(module, self.low[module].min(self.low[used]));
            } else if self.open.contains(&used) {
                self.low
                    .insert(module, self.low[module].min(self.index[used]));
            }
        }
        if self.low[module] == own {
            let start = self.open.iter().position(|open| *open == module).unwrap();
            let circle: BTreeSet<&Module> = self.open.drain(start..).collect();
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
    }
}
