//! What the kernel offers: borders around workers.

use baton_cli::Environment;
use baton_process::sandbox::{Level, Policy, Surroundings, available};

use crate::core::doctor::Check;

/// Tries the sandbox a worker would get.
pub(crate) fn sandbox(env: &Environment) -> Check {
    let name = "sandbox";
    let home = env.get("HOME").map(std::ffi::OsStr::new);
    let path = env.get("PATH").map(std::ffi::OsStr::new);
    let surroundings = Surroundings::new(home, path);
    let policy = Policy::read_only(&surroundings);
    let fix = "sysctl kernel.unprivileged_userns_clone=1 (Debian), or \
               sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); \
               else workers need: worker-run --sandbox best-effort";
    match available(&policy) {
        Ok(coverage) if coverage.level == Level::Full => Check::pass(
            name,
            "full: writes, reads, network and processes are held back",
        ),
        Ok(coverage) => Check::warn(
            name,
            coverage
                .describe()
                .trim_start_matches("sandbox: ")
                .to_owned(),
            fix,
        ),
        Err(error) => Check::warn(name, format!("it could not be tried: {error}"), fix),
    }
}
