//! What helps when the machine refuses us a file.

/// What to do about a failure that the operating system has named, where that can be said.
pub(crate) fn for_message(message: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|w| message.contains(w));
    if says(&["cannot write to standard output"]) {
        Some("what was done stands all the same; orchestrate show prints a run's report again")
    } else if says(&["No space left on device", "Disk quota exceeded"]) {
        Some(
            "make room on that disk (orchestrate clean --yes removes what runs left), then go on: \
             orchestrate resume",
        )
    } else if says(&["Read-only file system"]) {
        Some("orchestrate keeps its state in .orchestrator, which must be writable")
    } else if says(&["Permission denied"]) {
        Some("look who owns it (ls -ld), and make it yours")
    } else if says(&["Too many open files"]) {
        Some("raise the limit (ulimit -n 4096), then go on: orchestrate resume")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::for_message;

    #[test]
    fn what_the_machine_refuses_is_told_with_what_to_do() {
        for (message, says) in [
            (
                "cannot write x: No space left on device (os error 28)",
                "make room",
            ),
            (
                "cannot make the folder x: Read-only file system (os error 30)",
                "writable",
            ),
            (
                "cannot write to standard output: No space left on device (os error 28)",
                "orchestrate show",
            ),
            ("cannot open x: Permission denied (os error 13)", "ls -ld"),
            (
                "cannot start x: Too many open files (os error 24)",
                "ulimit",
            ),
        ] {
            assert!(for_message(message).unwrap().contains(says), "{message}");
        }
        assert_eq!(for_message("the goal is empty"), None);
    }
}
