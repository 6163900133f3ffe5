//! The processes that a program started, in any process group; on Linux from `/proc`.

use rustix::process::Pid;

/// All descendants of a child of this process, nearest first. Empty if the child has ended, or on other systems.
///
/// A process whose parent has ended belongs to the first process and cannot be found.
#[cfg(target_os = "linux")]
pub fn descendants(child: Pid) -> Vec<Pid> {
    let this_process = rustix::process::getpid();
    // The number may belong to another process by now.
    if parent(child) != Some(this_process) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let all: Vec<(Pid, Pid)> = names
        .filter_map(Pid::from_raw)
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut processes = vec![child];
    let mut visited = 0;
    while let Some(above) = processes.get(visited).copied() {
        let below: Vec<Pid> = all
            .iter()
            .filter(|(process, by)| *by == above && !processes.contains(process))
            .map(|(process, _)| *process)
            .collect();
        processes.extend(below);
        visited += 1;
    }
    processes.remove(0);
    processes
}

/// Other systems have no `/proc`.
#[cfg(not(target_os = "linux"))]
pub fn descendants(_child: Pid) -> Vec<Pid> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn parent(process: Pid) -> Option<Pid> {
    let stat = std::fs::read(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    parent_in(&String::from_utf8_lossy(&stat))
}

/// Parses `PID (NAME) STATE PARENT …`; a name may contain blanks and brackets.
#[cfg(target_os = "linux")]
fn parent_in(stat: &str) -> Option<Pid> {
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::Pid;

    use super::parent_in;

    #[test]
    fn a_name_may_look_like_the_rest() {
        for (stat, parent) in [("12 (sh) S 7 12", 7), ("12 (a) R 1 (b)) S 9 12 12", 9)] {
            assert_eq!(parent_in(stat), Pid::from_raw(parent), "{stat}");
        }
        assert_eq!((parent_in(""), parent_in("1 (init) S 0 1")), (None, None));
    }
}
