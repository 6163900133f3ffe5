//! Artifacts that no gate has written.

use std::io::Cursor;

use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Fork, zipped};

/// What an artifact is, and the sentence that it is refused with.
#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
pub(super) fn hostile() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let fork = Fork::new(true);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut report = fork.report.clone();
        change(&mut report);
        zipped(&[("report.json", report.to_string().as_bytes())])
    };
    let whole = fork.report.to_string();
    let many: Vec<String> = (0..100_001)
        .map(|number| format!("{number}.json"))
        .collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let mut linked = ZipWriter::new(Cursor::new(Vec::new()));
    linked
        .add_symlink(
            "report.json",
            "/proc/self/environ",
            SimpleFileOptions::default(),
        )
        .unwrap();
    let mut locked = zipped(&[("report.json", whole.as_bytes())]);
    let central = locked
        .windows(4)
        .position(|found| found == b"PK\x01\x02")
        .unwrap();
    locked[6] |= 1;
    locked[central + 8] |= 1;
    vec![
        (
            "another commit",
            with(&|report| report["commit"] = json!("0".repeat(40))),
            "the report is about another commit",
        ),
        (
            "no commit",
            with(&|report| report["commit"] = Value::Null),
            "the report is about another commit",
        ),
        (
            "no archive",
            b"<html>".to_vec(),
            "the archive cannot be read",
        ),
        (
            "nothing in it",
            zipped(&[("other.json", b"{}")]),
            "the artifact goldgate-report has no report.json",
        ),
        (
            "in a folder",
            zipped(&[("a/report.json", whole.as_bytes())]),
            "the artifact goldgate-report has no report.json",
        ),
        (
            "a path that leads out",
            zipped(&[("report.json", whole.as_bytes()), ("../../x", b"")]),
            "leaves the repository",
        ),
        (
            "an absolute path",
            zipped(&[("report.json", whole.as_bytes()), ("/etc/x", b"")]),
            "is absolute",
        ),
        (
            "a link",
            linked.finish().unwrap().into_inner(),
            "report.json in the archive is a link or a device",
        ),
        (
            "a password",
            locked,
            "report.json in the archive is encrypted",
        ),
        (
            "100,001 entries",
            zipped(&many),
            "the archive has more than 100000 entries",
        ),
        (
            "a gigabyte of zeros",
            bomb(),
            "report.json in the archive is larger than 32 MiB",
        ),
        (
            "broken JSON",
            zipped(&[("report.json", &whole.as_bytes()[..whole.len() / 2])]),
            "report.json:1:",
        ),
        (
            "deep JSON",
            zipped(&[("report.json", "[".repeat(1_000_000).as_bytes())]),
            "report.json:1:",
        ),
        (
            "no UTF-8",
            zipped(&[("report.json", b"\xff\xfe{}")]),
            "is not UTF-8",
        ),
        (
            "another schema",
            with(&|report| report["schema"] = json!("goldgate.report/2")),
            "unknown schema",
        ),
        (
            "another exit code",
            with(&|report| report["exit_code"] = json!(0)),
            "contradicts the verdict",
        ),
        (
            "an unknown verdict",
            with(&|report| report["verdict"] = json!("excellent")),
            "unknown value \"excellent\"",
        ),
        (
            "a golden file outside",
            with(&|report| {
                report["suites"][0]["agents"][0]["cases"][0]["golden"] = json!("../../x")
            }),
            "leaves the repository",
        ),
        (
            "a version of markup",
            with(&|report| report["tool"]["version"] = json!("1</sub>@all")),
            "a version that goldgate does not write",
        ),
        (
            "a base of markup",
            with(&|report| report["base"] = json!("<img src=x>")),
            "a base commit that goldgate does not write",
        ),
        (
            "a count that overflows",
            with(&|report| report["usage"]["input_tokens"] = json!(u64::MAX)),
            "a count that goldgate does not write",
        ),
        (
            "a number of 300 digits",
            with(&|report| {
                report["suites"][0]["agents"][0]["metrics"]["finding_recall"]["value"] =
                    json!(1e300)
            }),
            "a number that goldgate does not write",
        ),
        (
            "a name of 1,000 letters",
            with(&|report| report["suites"][0]["id"] = json!("a".repeat(1000))),
            "more than 200 letters in a name",
        ),
        (
            "1,001 notes",
            with(&|report| report["notes"] = json!(vec!["note"; 1001])),
            "more than 1000 notes",
        ),
    ]
}

/// Reports with too much in fields that nobody reads, or that were not bounded one by one.
pub(super) fn oversized() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let fork = Fork::new(true);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut report = fork.report.clone();
        change(&mut report);
        zipped(&[("report.json", report.to_string().as_bytes())])
    };
    let whole = fork.report.to_string();
    vec![
        (
            "a number of 300 digits in one sample",
            with(&|report| {
                let case = &mut report["suites"][0]["agents"][0]["cases"][0];
                case["metrics"]["finding_recall"]["samples"] = json!([1e300]);
            }),
            "a number that goldgate does not write",
        ),
        (
            "a key that no version knows, with a text",
            with(&|report| {
                report["suites"][0]["agents"][0]["later"] = json!({ "a": ["b".repeat(201)] })
            }),
            "more than 200 letters in a name",
        ),
        (
            "a reason of 100,001 letters for a retired case",
            with(&|report| {
                report["suites"][0]["agents"][0]["retired"] =
                    json!({ "lease": "b".repeat(100_001) })
            }),
            "more than 100000 letters in a text",
        ),
        (
            "lists in lists",
            with(&|report| {
                report["later"] =
                    serde_json::from_str(&format!("{}{}", "[".repeat(20), "]".repeat(20))).unwrap()
            }),
            "more than 16 levels",
        ),
        (
            "a key twice",
            zipped(&[(
                "report.json",
                whole.replacen('{', "{\"commit\": null, ", 1).as_bytes(),
            )]),
            "duplicate key",
        ),
    ]
}

/// A zip of one file: 1 GiB of zeros in a megabyte, with a header that says so little of it that it looks small.
fn bomb() -> Vec<u8> {
    let mut compress = Compress::new(Compression::fast(), false);
    let zeros = vec![0; 1024 * 1024];
    let mut block = Vec::with_capacity(64 * 1024);
    compress
        .compress_vec(&zeros, &mut block, FlushCompress::Full)
        .unwrap();
    let first = block.len();
    compress
        .compress_vec(&zeros, &mut block, FlushCompress::Full)
        .unwrap();
    assert_eq!(compress.total_in(), 2 * 1024 * 1024);
    // What follows a full flush stands for itself, so it can be repeated.
    let again = block[first..].to_vec();
    let mut bytes = block;
    (0..1022).for_each(|_| bytes.extend(&again));
    bytes.extend([3, 0]);
    let (length, name) = (u32::try_from(bytes.len()).unwrap(), b"report.json");
    let size = 1024_u32 * 1024 * 1024;
    let sizes = |out: &mut Vec<u8>| {
        [0_u32, length, size]
            .iter()
            .for_each(|number| out.extend(number.to_le_bytes()));
        out.extend(11_u16.to_le_bytes());
    };
    let mut out = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0".to_vec();
    sizes(&mut out);
    out.extend([0, 0]);
    out.extend(name);
    out.extend(&bytes);
    let central = out.len();
    out.extend(b"PK\x01\x02\x14\x03\x14\0\0\0\x08\0\0\0\0\0");
    sizes(&mut out);
    out.extend([0; 8]);
    out.extend([0, 0, 0xa4, 0x81, 0, 0, 0, 0]);
    out.extend(name);
    let end = out.len();
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(u32::try_from(end - central).unwrap().to_le_bytes());
    out.extend(u32::try_from(central).unwrap().to_le_bytes());
    out.extend([0, 0]);
    out
}
