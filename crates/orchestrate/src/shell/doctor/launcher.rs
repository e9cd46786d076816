//! Whether the configured launchers can be started, and what they need.

use std::path::{Path, PathBuf};

use baton_cli::Environment;
use baton_cli::config::{Config, LauncherIo};

use crate::core::doctor::Check;

/// One finding a launcher; none where workers run here.
pub(crate) fn launchers(root: &Path, config: &Config, env: &Environment) -> Vec<Check> {
    let of_run = (&config.run.launcher, config.run.launcher_io, None);
    let of_roles = config.roles.iter().filter_map(|(name, role)| {
        let io = role.launcher_io.unwrap_or(config.run.launcher_io);
        Some((role.launcher.as_ref()?, io, Some(name.as_str())))
    });
    std::iter::once(of_run)
        .chain(of_roles)
        .filter(|(argv, ..)| !argv.is_empty())
        .map(|(argv, io, role)| one(root, config, env, argv, io, role))
        .collect()
}

fn one(
    root: &Path,
    config: &Config,
    env: &Environment,
    argv: &[String],
    io: LauncherIo,
    role: Option<&str>,
) -> Check {
    let name = "launcher";
    let (section, whose) = match role {
        Some(role) => (format!("[roles.{role}]"), format!(" of role {role}")),
        None => ("[run]".to_owned(), String::new()),
    };
    let shown = argv.join(" ");
    if !is_there(root, env, &argv[0]) {
        return Check::fail(
            name,
            format!(
                "`{}`{whose} is not found, so no worker would start",
                argv[0]
            ),
            format!("install it, or set {section} launcher = []"),
        );
    }
    let (how, slots) = (
        match io {
            LauncherIo::Shared => "shared folders",
            LauncherIo::Stream => "stdin and stdout",
        },
        match config.slots.store {
            Some(_) => "slots are taken where workers run",
            None => "slots are held here around it",
        },
    );
    let message = format!("`{shown}`{whose}, {how}; {slots}");
    // A server on this host's loopback is another one, or none, on the worker's host.
    let local = config
        .providers
        .iter()
        .find(|p| is_loopback(p.base_url.host()));
    match local {
        Some(provider) => Check::warn(
            name,
            format!(
                "{message}; provider `{}` is on the loopback ({}), which workers on another host \
                 cannot reach",
                provider.id, provider.base_url
            ),
            "name the server by an address that the workers' hosts reach (or forward it: ssh -R)",
        ),
        None => Check::pass(name, message),
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_there(root: &Path, env: &Environment, program: &str) -> bool {
    let is_program = |path: PathBuf| {
        path.is_file() && rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if program.contains('/') {
        return is_program(root.join(program));
    }
    let path = env.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| is_program(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_cli::Environment;
    use baton_cli::config::{Config, ProviderConfig};
    use baton_protocol::BaseUrl;

    use super::launchers;
    use crate::core::doctor::Level;

    #[test]
    fn each_launcher_is_looked_for_and_a_server_on_the_loopback_is_said() {
        let env: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let mut config = Config::default();
        let root = Path::new("/");
        assert_eq!(launchers(root, &config, &env), []);
        config.run.launcher = vec!["sh".into(), "-c".into()];
        let url = |text: &str| BaseUrl::parse(text).unwrap();
        config.providers = vec![ProviderConfig::new("p", url("http://10.0.0.5:8000"))];
        assert_eq!(launchers(root, &config, &env)[0].status, Level::Pass);
        config.providers[0].base_url = url("http://127.0.0.1:8000");
        assert_eq!(launchers(root, &config, &env)[0].status, Level::Warn);
        config.run.launcher = vec!["no-such-program".into()];
        let found = launchers(root, &config, &env);
        assert_eq!(found[0].status, Level::Fail);
        assert!(found[0].fix.as_deref().unwrap().contains("[run]"));
    }
}
