//! Tests with valid archives and with those of an attacker.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use ::zip::write::SimpleFileOptions;
use ::zip::{CompressionMethod, ZipWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::proptest;
use tar::{Builder, EntryType, Header};

use super::{ArchiveLimits, tarball, zip};
use crate::model::RepoPath;

const LIMITS: ArchiveLimits = ArchiveLimits {
    entries: 50,
    file: 10_000,
    kept: 25_000,
    inflated: 100_000,
};

fn everything(_: &RepoPath) -> bool {
    true
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gzipped(tar: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(tar).unwrap();
    out.finish().unwrap()
}

/// Adds a raw entry with a name that the builder would refuse.
fn entry(builder: &mut Builder<Vec<u8>>, kind: EntryType, name: &[u8], bytes: &[u8]) {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, bytes).unwrap();
}

fn tarred(entries: &[(EntryType, &[u8], &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    entry(
        &mut builder,
        EntryType::XGlobalHeader,
        b"pax_global_header",
        b"52 comment=5555555555555555555555555555555555555555\n",
    );
    entry(
        &mut builder,
        EntryType::Directory,
        b"acme-agents-5555555/",
        b"",
    );
    entries
        .iter()
        .for_each(|(kind, name, bytes)| entry(&mut builder, *kind, name, bytes));
    gzipped(&builder.into_inner().unwrap())
}

fn message<T>(outcome: Result<T, super::ArchiveError>) -> String {
    outcome
        .err()
        .map_or("read".to_owned(), |refused| refused.to_string())
}

fn texts(files: BTreeMap<RepoPath, Vec<u8>>) -> Vec<(String, String)> {
    files
        .into_iter()
        .map(|(path, bytes)| (path.to_string(), String::from_utf8(bytes).unwrap()))
        .collect()
}

#[test]
fn wanted_files_are_read_from_both_formats() {
    let wanted = |path: &RepoPath| path.as_str().starts_with("a/");
    let read = zip(
        &zipped(&[("a/b.json", b"1"), ("c.zip", b"PK")]),
        LIMITS,
        &wanted,
    )
    .unwrap();
    assert_eq!(texts(read.files), [("a/b.json".to_owned(), "1".to_owned())]);
    let file = EntryType::Regular;
    let packed = tarred(&[
        (file, b"acme-agents-5555555/a/b.json", b"1"),
        (file, b"acme-agents-5555555/c.tgz", b"2"),
        (EntryType::Symlink, b"acme-agents-5555555/a/link", b""),
    ]);
    let read = tarball(&packed, LIMITS, &wanted).unwrap();
    assert_eq!(texts(read.files), [("a/b.json".to_owned(), "1".to_owned())]);
    assert_eq!(
        read.links
            .into_iter()
            .map(|link| link.to_string())
            .collect::<Vec<_>>(),
        ["a/link"]
    );
}

#[test]
fn a_streamed_zip_is_read() {
    // A streaming writer does not know the sizes: they follow the bytes.
    let mut writer = ZipWriter::new_stream(Vec::new());
    writer
        .start_file(
            "report.json",
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated),
        )
        .unwrap();
    writer.write_all(&b"{}".repeat(100)).unwrap();
    writer
        .start_file("summary.json", SimpleFileOptions::default())
        .unwrap();
    let packed = writer.finish().unwrap().into_inner();
    assert_eq!(zip(&packed, LIMITS, &everything).unwrap().files.len(), 2);
}

#[test]
fn a_path_that_leaves_or_hides_rejects_the_whole_archive() {
    for (name, expected) in [
        (
            "../x",
            "the path \"../x\" in the archive leaves the repository",
        ),
        (
            "a/../x",
            "the path \"a/../x\" in the archive leaves the repository",
        ),
        (
            "/etc/passwd",
            "the path \"/etc/passwd\" in the archive is absolute",
        ),
        ("C:/x", "the path \"C:/x\" in the archive is absolute"),
        (
            "a\\..\\x",
            "the path \"a\\\\..\\\\x\" in the archive contains a NUL byte or a backslash",
        ),
        (
            "a\0b",
            "the path \"a\\x00b\" in the archive contains a NUL byte or a backslash",
        ),
        (
            "a\nb",
            "the path \"a\\nb\" in the archive has characters that cannot be shown",
        ),
        (
            "a\u{202e}b",
            "the path \"a\\xe2\\x80\\xaeb\" in the archive has characters that cannot be shown",
        ),
        (
            "a\u{200b}b",
            "the path \"a\\xe2\\x80\\x8bb\" in the archive has characters that cannot be shown",
        ),
        (
            "\u{1b}[31m",
            "the path \"\\x1b[31m\" in the archive has characters that cannot be shown",
        ),
    ] {
        assert_eq!(
            message(zip(
                &zipped(&[("ok.json", b"1"), (name, b"2")]),
                LIMITS,
                &everything
            )),
            expected
        );
        let nothing = |_: &RepoPath| false;
        assert_eq!(
            message(zip(
                &zipped(&[("ok.json", b"1"), (name, b"2")]),
                LIMITS,
                &nothing
            )),
            expected,
            "unwanted"
        );
        // Old headers end a name at a NUL.
        if !name.contains('\0') {
            let inside = [b"acme-agents-5555555/", name.as_bytes()].concat();
            let outcome = message(tarball(
                &tarred(&[(EntryType::Regular, &inside, b"2")]),
                LIMITS,
                &everything,
            ));
            // Git tracks a file of any name, and no config can name these.
            let is_odd = expected.ends_with("backslash") || expected.ends_with("cannot be shown");
            assert_eq!(outcome == "read", is_odd, "{name:?}: {outcome}");
        }
    }
    let (latin, deep) = (
        b"acme-agents-5555555/\xe9",
        b"acme-agents-5555555/".iter().copied(),
    );
    let read = tarball(
        &tarred(&[(EntryType::Regular, latin, b"")]),
        LIMITS,
        &everything,
    )
    .unwrap();
    assert!(read.files.is_empty());
    let deep: Vec<u8> = deep.chain(b"a/".repeat(35)).collect();
    let mut deeper = String::from("a/").repeat(65);
    deeper.push('b');
    assert_eq!(
        message(tarball(
            &tarred(&[(EntryType::Directory, &deep, b"")]),
            LIMITS,
            &everything
        )),
        "read"
    );
    assert!(
        message(zip(&zipped(&[(&deeper, b"")]), LIMITS, &everything))
            .ends_with("is too deep or too long")
    );
    assert!(
        message(zip(
            &zipped(&[(&"a".repeat(4097), b"")]),
            LIMITS,
            &everything
        ))
        .ends_with("is too deep or too long")
    );
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::Continuous,
    ] {
        let packed = tarred(&[(kind, b"acme-agents-5555555/a", b"")]);
        let outcome = message(tarball(&packed, LIMITS, &everything));
        assert!(
            outcome == "a in the archive is a link or a device"
                || outcome.contains("cannot be read"),
            "{kind:?}: {outcome}"
        );
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_symlink("report.json", "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    let packed = writer.finish().unwrap().into_inner();
    assert_eq!(
        message(zip(&packed, LIMITS, &everything)),
        "report.json in the archive is a link or a device"
    );
}

#[test]
fn a_tarball_has_one_folder() {
    for name in [&b"other/a.json"[..], b"a.json"] {
        let packed = tarred(&[(EntryType::Regular, name, b"1")]);
        assert!(
            message(tarball(&packed, LIMITS, &everything))
                .contains("is outside the archive's single root folder")
        );
    }
}

#[test]
fn a_second_entry_at_a_path_is_refused() {
    let file = EntryType::Regular;
    let twice: &[(EntryType, &[u8], &[u8])] = &[
        (file, b"acme-agents-5555555/a", b"1"),
        (file, b"acme-agents-5555555/./a", b"2"),
    ];
    assert_eq!(
        message(tarball(&tarred(twice), LIMITS, &everything)),
        "a is in the archive twice"
    );
    let both: &[(EntryType, &[u8], &[u8])] = &[
        (EntryType::Symlink, b"acme-agents-5555555/a", b""),
        (file, b"acme-agents-5555555/a/b", b"2"),
    ];
    assert_eq!(
        message(tarball(&tarred(both), LIMITS, &everything)),
        "a is in the archive twice"
    );
    assert_eq!(
        message(zip(
            &zipped(&[("a", b"1"), ("./a", b"2")]),
            LIMITS,
            &everything
        )),
        "a is in the archive twice"
    );
    // This writer refuses a second entry with the same name: rename one in the finished archive.
    let mut packed = zipped(&[("a.json", b"1"), ("b.json", b"2")]);
    for index in 0..packed.len() - 6 {
        if &packed[index..index + 6] == b"b.json" {
            packed[index] = b'a';
        }
    }
    assert!(message(zip(&packed, LIMITS, &everything)).contains("duplicate file names"));
}

#[test]
fn contradicting_zip_headers_are_refused() {
    let mut packed = zipped(&[("report.json", b"1")]);
    let index = packed
        .windows(11)
        .position(|name| name == b"report.json")
        .unwrap();
    packed[index] = b'x';
    assert!(message(zip(&packed, LIMITS, &everything)).contains("header inconsistency"));
}

#[test]
fn sizes_are_counted_and_never_trusted() {
    let large = vec![0; 10_001];
    assert_eq!(
        message(zip(&zipped(&[("a", &large)]), LIMITS, &everything)),
        "a in the archive is larger than 9 KiB"
    );
    let (one, many) = (vec![0; 9_000], ["a", "b", "c"]);
    let three: Vec<(&str, &[u8])> = many.iter().map(|name| (*name, &one[..])).collect();
    assert_eq!(
        message(zip(&zipped(&three), LIMITS, &everything)),
        "the files in the archive are larger than 24 KiB together"
    );
    // Unwanted files are inflated in a tarball, but not in a zip.
    let bomb = vec![0; 3_000_000];
    let nothing = |_: &RepoPath| false;
    assert_eq!(
        message(zip(&zipped(&[("a", &bomb)]), LIMITS, &nothing)),
        "read"
    );
    let packed = tarred(&[(EntryType::Regular, b"acme-agents-5555555/a", &bomb)]);
    assert!(packed.len() < 10_000);
    assert_eq!(
        message(tarball(&packed, LIMITS, &nothing)),
        "the archive unpacks to more than 97 KiB"
    );
    // A header with a false size: the reader must not rely on the size in a zip.
    let mut lying = zipped(&[("a", &bomb)]);
    let size = u32::try_from(bomb.len()).unwrap().to_le_bytes();
    while let Some(index) = lying.windows(4).position(|found| found == size) {
        lying[index..index + 4].copy_from_slice(&1_u32.to_le_bytes());
    }
    assert_ne!(message(zip(&lying, LIMITS, &everything)), "read");
}

#[test]
fn an_archive_at_its_limits_is_read() {
    let ArchiveLimits {
        entries,
        file,
        kept,
        inflated,
    } = LIMITS;
    let of = |length: u64| vec![0; length as usize];
    let (largest, rest) = (of(file), of(kept - 2 * file));
    let full = [("a", &largest[..]), ("b", &largest), ("c", &rest)];
    assert_eq!(message(zip(&zipped(&full), LIMITS, &everything)), "read");
    let more = [full[0], full[1], full[2], ("d", &[0])];
    assert!(
        message(zip(&zipped(&more), LIMITS, &everything)).contains("larger than 24 KiB together")
    );
    let names: Vec<String> = (0..entries).map(|number| number.to_string()).collect();
    let most: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert_eq!(message(zip(&zipped(&most), LIMITS, &everything)), "read");
    // Of the blocks of 512 bytes, two are the global header, one is the folder, one begins the file, and one ends the archive.
    let blocks = inflated / 512;
    let packed = |blocks: u64| {
        tarred(&[(
            EntryType::Regular,
            b"acme-agents-5555555/a",
            &of((blocks - 5) * 512),
        )])
    };
    let nothing = |_: &RepoPath| false;
    assert_eq!(message(tarball(&packed(blocks), LIMITS, &nothing)), "read");
    assert!(
        message(tarball(&packed(blocks + 1), LIMITS, &nothing))
            .contains("unpacks to more than 97 KiB")
    );
}

#[test]
fn entries_are_counted() {
    let names: Vec<String> = (0..51).map(|number| number.to_string()).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert_eq!(
        message(zip(&zipped(&files), LIMITS, &everything)),
        "the archive has more than 50 entries"
    );
    let entries: Vec<(EntryType, Vec<u8>)> = names
        .iter()
        .map(|name| {
            (
                EntryType::Regular,
                format!("acme-agents-5555555/{name}").into_bytes(),
            )
        })
        .collect();
    let entries: Vec<(EntryType, &[u8], &[u8])> = entries
        .iter()
        .map(|(kind, name)| (*kind, &name[..], &b""[..]))
        .collect();
    assert_eq!(
        message(tarball(&tarred(&entries), LIMITS, &everything)),
        "the archive has more than 50 entries"
    );
    // The count in a zip's end record is not trusted either.
    let mut lying = zipped(&[("a", b"1")]);
    let end = lying.len() - 22;
    lying[end + 8..end + 12].copy_from_slice(&[0xff, 0xfe, 0xff, 0xfe]);
    assert!(message(zip(&lying, LIMITS, &everything)).starts_with("the archive cannot be read"));
}

#[test]
fn an_encrypted_entry_is_refused() {
    let mut packed = zipped(&[("report.json", b"1")]);
    // Bit 0 of the flags, in both headers.
    packed[6] |= 1;
    let central = packed
        .windows(4)
        .position(|found| found == b"PK\x01\x02")
        .unwrap();
    packed[central + 8] |= 1;
    assert_eq!(
        message(zip(&packed, LIMITS, &everything)),
        "report.json in the archive is encrypted"
    );
}

#[test]
fn invalid_archives_are_reported() {
    for bytes in [
        &b""[..],
        b"PK",
        b"not an archive",
        b"PK\x05\x06",
        &[0x1f, 0x8b],
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3],
    ] {
        assert!(
            message(zip(bytes, LIMITS, &everything)).starts_with("the archive cannot be read: "),
            "{bytes:?}"
        );
        assert!(
            message(tarball(bytes, LIMITS, &everything))
                .starts_with("the archive cannot be read: "),
            "{bytes:?}"
        );
    }
    // A second directory end record with 64-bit counts that point nowhere.
    let mut odd = zipped(&[("a", b"1")]);
    let end = odd.len() - 22;
    odd[end + 8..end + 20].fill(0xff);
    assert!(message(zip(&odd, LIMITS, &everything)).starts_with("the archive cannot be read: "));
}

proptest! {
    #[test]
    fn arbitrary_bytes_give_only_archive_errors(bytes in vec(any::<u8>(), 0..600)) {
        let _ = zip(&bytes, LIMITS, &everything);
        let _ = tarball(&bytes, LIMITS, &everything);
        let _ = tarball(&gzipped(&bytes), LIMITS, &everything);
    }

    #[test]
    fn a_damaged_archive_gives_an_error_or_files_within_the_limits(places in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6)) {
        let mut one = zipped(&[("a/b.json", &b"text ".repeat(300)), ("c.json", b"{}"), ("d", b"")]);
        let file = EntryType::Regular;
        let mut builder = Builder::new(Vec::new());
        entry(&mut builder, file, b"r/a", &b"text ".repeat(300));
        entry(&mut builder, file, b"r/b", b"{}");
        let mut other = builder.into_inner().unwrap();
        for (place, byte) in places {
            *place.get_mut(&mut one) = byte;
            *place.get_mut(&mut other) = byte;
        }
        for read in [zip(&one, LIMITS, &everything), tarball(&gzipped(&other), LIMITS, &everything)].into_iter().flatten() {
            assert!(read.files.values().map(Vec::len).sum::<usize>() as u64 <= LIMITS.kept);
            assert!(read.files.keys().all(|path| !path.as_str().is_empty() && !path.as_str().split('/').any(|part| part == "..")));
        }
    }
}
