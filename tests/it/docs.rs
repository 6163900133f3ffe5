//! What the documents say is what the program does.

use std::fs;

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::repository::program;
use crate::repository::ran;
use crate::repository::root;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("every schema that is shipped is current", schemas),
        trial("an unknown schema is told with the known ones", unknown_schema),
    ]
}

fn schemas() {
    let repository = Repository::empty();
    let listed = repository.goldgate(&["schema"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let mut shipped: Vec<String> = Vec::new();
    for name in listed.stdout.lines() {
        let ran = repository.goldgate(&["schema", name]);
        let file = root().join("docs/schemas").join(format!("{name}.json"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &ran.stdout).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(text == ran.stdout, "docs/schemas/{name}.json is not current; BLESS=1 rewrites it");
        shipped.push(format!("{name}.json"));
    }
    let mut there: Vec<String> = fs::read_dir(root().join("docs/schemas"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    shipped.sort();
    assert_eq!(there, shipped);
}

fn unknown_schema() {
    let ran = ran(program(root()).args(["schema", "confg"]));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with("command line: no format is called \"confg\"; did you mean \"config\"?"),
        "{}",
        ran.stderr
    );
}
