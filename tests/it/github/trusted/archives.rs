//! The archive of a commit: it is the commit, or it is refused.

use super::Fork;
use crate::github::standin::account::GraphQlAccess;
use crate::github::standin::commits::{SUBMODULE, gzipped};
use crate::github::standin::pulls::MERGE;
use crate::github::{BOT, RUN};

pub fn not_the_commit() {
    // export-ignore hides a recording; export-subst shows another expectation than is merged. What is merged counts.
    for (file, archived) in [
        (RUN, None),
        ("golden/expected/legal/lease.json", Some(&b"{}"[..])),
    ] {
        for access in [GraphQlAccess::Answers, GraphQlAccess::Blocked] {
            let fork = Fork::new();
            fork.commit();
            fork.github.graphql(access);
            fork.github.change_commit(MERGE, |commit| {
                commit
                    .archived
                    .insert(file.to_owned(), archived.map(<[u8]>::to_vec));
            });
            let ran = fork.job().runs();
            assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
            // The worse recording that it hides.
            fork.head.replace(
                RUN,
                "\"findings\": [",
                "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
            );
            fork.commit();
            fork.github.change_commit(MERGE, |commit| {
                commit
                    .archived
                    .insert(file.to_owned(), archived.map(<[u8]>::to_vec));
            });
            let ran = fork.job().runs();
            assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        }
    }
    // What it does elsewhere is its own affair.
    let fork = Fork::new();
    fork.head.write("src/main.py", "1");
    fork.commit();
    fork.github.change_commit(MERGE, |commit| {
        commit.archived.insert("src/main.py".to_owned(), None);
    });
    assert_eq!(fork.job().runs().code, 0);
}

/// GraphQL gives no text of a binary file, so each is a request of its own: one, although both commits have it.
pub fn binary() {
    let fork = Fork::new();
    let names = ["a", "b", "c"].map(|name| format!("golden/contracts/{name}.bin"));
    for name in &names {
        for side in [&fork.base, &fork.head] {
            side.write(name, format!("{name}\0"));
        }
    }
    fork.commit();
    for commit in [super::sha("base"), MERGE.to_owned()] {
        fork.github.change_commit(&commit, |commit| {
            commit
                .archived
                .extend(names.iter().map(|name| (name.clone(), None)));
        });
    }
    let ran = fork.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let asked = fork.github.requests();
    assert_eq!(
        asked
            .iter()
            .filter(|request| request.contains("/git/blobs/"))
            .count(),
        names.len(),
        "{asked:#?}"
    );
}

/// An archive has nothing of a submodule, and git's list has one entry with the mode 160000 (REST, "Get a tree").
pub fn submodules() {
    for (is_of_base, path, expected) in [
        (false, "vendor/lib", 0),
        (true, "vendor/lib", 0),
        (false, "golden/contracts", 2),
        (false, "golden/contracts/lease.md", 2),
        (false, "golden/contracts/extra", 2),
        (false, "golden/expected/legal", 2),
        (false, "golden/runs", 2),
        (false, "goldgate.yaml", 2),
        (true, "golden/contracts", 3),
    ] {
        let fork = Fork::new();
        fork.commit();
        let commit = if is_of_base {
            super::sha("base")
        } else {
            MERGE.to_owned()
        };
        fork.github.change_commit(&commit, |commit| {
            commit
                .entries
                .retain(|known, _| known != path && !known.starts_with(&format!("{path}/")));
            commit
                .entries
                .insert(path.to_owned(), (SUBMODULE, b"1".to_vec()));
            commit.archived.insert(path.to_owned(), None);
        });
        let ran = fork.job().runs();
        assert_eq!(ran.code, expected, "{path}: {}{}", ran.stdout, ran.stderr);
        // The base commit's rules cannot judge anything without their documents.
        let words = "golden/contracts: the folder does not exist";
        assert!(
            expected != 3 || ran.stdout.contains(words),
            "{path}: {}",
            ran.stdout
        );
        assert!(
            expected != 2 || ran.stderr.contains("symbolic link or a submodule"),
            "{path}: {}",
            ran.stderr
        );
    }
}

pub fn hostile() {
    let root = |path: &str| format!("acme-agents-0000000/{path}");
    let table = [
        (
            "no archive",
            b"<html>".to_vec(),
            "the archive cannot be read",
        ),
        (
            "100,001 entries",
            tarred((0..100_001).map(|number| (root(&number.to_string()), 0))),
            "the archive has more than 100000 entries",
        ),
        (
            "a path that leads out",
            tarred([(root("../../etc/cron.d/x"), 1)]),
            "leaves the repository",
        ),
        (
            "an absolute path",
            tarred([("/etc/x".to_owned(), 1)]),
            "is absolute",
        ),
        (
            "65 folders",
            tarred([(root(&format!("{}x", "a/".repeat(65))), 0)]),
            "is too deep or too long",
        ),
        (
            "cut off",
            {
                let mut bytes = tarred([(root("golden/x.json"), 100_000)]);
                bytes.truncate(bytes.len() / 2);
                bytes
            },
            "the archive cannot be read",
        ),
    ];
    for (what, tarball, sentence) in table {
        let fork = Fork::new();
        fork.commit();
        fork.github
            .change_commit(MERGE, |commit| commit.tarball = Some(tarball));
        let ran = fork.job().runs();
        assert_eq!(ran.code, 3, "{what}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(sentence) && ran.stderr.contains(MERGE),
            "{what}: {}",
            ran.stderr
        );
        assert_eq!(fork.github.bodies(BOT).len(), 0, "{what}");
    }
    let fork = Fork::new();
    fork.commit();
    fork.github
        .change_commit(MERGE, |commit| commit.truncated = true);
    let ran = fork.job().runs();
    assert!(
        ran.code == 3
            && ran
                .stderr
                .contains("more files than GitHub lists in one response"),
        "{}",
        ran.stderr
    );
    // Only a baseline may be larger.
    let fork = Fork::new();
    fork.head.write(RUN, " ".repeat(33 << 20));
    fork.commit();
    let ran = fork.job().runs();
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains(&format!("{RUN}: the file is larger than 32 MiB")),
        "{}",
        ran.stderr
    );
}

pub fn large() {
    // No archives, but the first one may be downloaded.
    for (bytes, sentence) in [
        (256 << 20, "the archive cannot be read"),
        ((256 << 20) + 1, "it is larger than 256 MiB"),
    ] {
        let fork = Fork::new();
        fork.commit();
        fork.github
            .change_commit(MERGE, |commit| commit.tarball = Some(vec![0; bytes]));
        let ran = fork.job().runs();
        assert!(
            ran.code == 3 && ran.stderr.contains(sentence),
            "{bytes}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn tarred(entries: impl IntoIterator<Item = (String, u64)>) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, size) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(size);
        // The builder itself would refuse a path that leads out.
        if name.len() <= 100 {
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder
                .append(&header, std::io::Read::take(std::io::repeat(0), size))
                .unwrap();
        } else {
            builder
                .append_data(
                    &mut header,
                    name,
                    std::io::Read::take(std::io::repeat(0), size),
                )
                .unwrap();
        }
    }
    gzipped(&builder.into_inner().unwrap())
}
