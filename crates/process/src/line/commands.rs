//! What single commands do to the walk: `exit`, `set`, `trap`, a function, a program in a program.

use super::parse::parse;
use super::program::{base, inner, is_assignment, plain};
use super::walk::{Flow, Lost, MOST_STEPS, SOME_FAILURE, Shell, Step};

impl Shell {
    pub(super) fn simple(&mut self, words: &[&str], text: &str) -> Step {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(Flow::Exit(SOME_FAILURE));
        }
        text.clone_into(&mut self.last);
        if words.iter().all(|w| is_assignment(w)) {
            return Ok(self.assign(words));
        }
        let mut command = plain(words);
        if let Some(value) = command.first().and_then(|w| self.value(w)) {
            command[0] = value;
        }
        if let Some((options, program)) = inner(&command) {
            return self.nested(&options, &program, base(&command[0]));
        }
        let executed = words.first() == Some(&"exec") && words.len() > 1;
        if self.fails(text) {
            self.reached = true;
            if !self.muted {
                let code = failure_code(&command);
                return if executed {
                    Err(Flow::Exit(code))
                } else {
                    Ok(code)
                };
            }
        }
        if executed {
            return Err(Flow::Exit(0));
        }
        let Some(name) = command.first().map(|w| base(w).to_owned()) else {
            return Ok(0);
        };
        if let Some(body) = self.functions.get(&name).cloned() {
            let list = parse(&body).unwrap_or_default();
            return match self.owned_list(&list) {
                Err(Flow::Return(code)) => Ok(code),
                other => other,
            };
        }
        let argument = command.get(1).cloned();
        match name.as_str() {
            "false" => Ok(1),
            "exit" | "return" => {
                let code = match argument {
                    Some(word) => self.number(&word).unwrap_or(SOME_FAILURE),
                    None => self.status,
                };
                if self.status != 0 && code == 0 {
                    self.lose(Lost::Sequence);
                }
                Err(if name == "exit" {
                    Flow::Exit(code)
                } else {
                    Flow::Return(code)
                })
            }
            "break" => Err(Flow::Break),
            "continue" => Err(Flow::Continue),
            "set" => {
                self.set(&command[1..]);
                Ok(0)
            }
            "trap" => {
                let on_exit = command.iter().skip(2).any(|s| s == "EXIT" || s == "0");
                if on_exit {
                    self.exit_trap = argument;
                }
                Ok(0)
            }
            "wait" => Ok(argument.map_or(0, |_| {
                self.background
                    .iter()
                    .copied()
                    .find(|s| *s != 0)
                    .unwrap_or(0)
            })),
            "test" | "[" | "[[" | "((" => Ok(self.test(&command)),
            "let" => {
                self.arithmetic(&command[1..]);
                Ok(0)
            }
            "local" | "export" | "declare" | "readonly" | "typeset" => {
                let assigned: Vec<&str> =
                    words.iter().copied().filter(|w| is_assignment(w)).collect();
                if self.assign(&assigned) != 0 {
                    self.lose(Lost::Inside(name));
                }
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    fn nested(&mut self, options: &[String], program: &str, name: &str) -> Step {
        let Some(list) = parse(program) else {
            return Ok(0);
        };
        if name == "eval" {
            return self.owned_list(&list);
        }
        let returns = |o: &String| {
            matches!(o.as_str(), "-e" | "--return") || (o.starts_with("-q") && o.contains('e'))
        };
        let forgets = name == "script" && !options.iter().any(returns);
        let options = if name == "script" { &[][..] } else { options };
        let status = self.apart(|shell| {
            shell.errexit = false;
            shell.pipefail = false;
            shell.set(options);
            let shielded = std::mem::take(&mut shell.shielded);
            let step = shell.owned_list(&list);
            shell.shielded = shielded;
            step
        });
        if forgets && status != 0 {
            self.lose(Lost::Inside("script -c".into()));
            return Ok(0);
        }
        Ok(status)
    }

    fn set(&mut self, options: &[String]) {
        let mut words = options.iter();
        while let Some(word) = words.next() {
            let on = word.starts_with('-');
            let Some(letters) = word.strip_prefix(['-', '+']) else {
                continue;
            };
            if letters.contains('e') && !letters.starts_with('-') {
                self.errexit = on;
            }
            if letters.ends_with('o') {
                match words.next().map(String::as_str) {
                    Some("pipefail") => self.pipefail = on,
                    Some("errexit") => self.errexit = on,
                    _ => {}
                }
            }
        }
    }
}

/// The code with which a failing command usually ends.
fn failure_code(command: &[String]) -> i32 {
    match command.first().map(|w| base(w)) {
        Some("cargo") => 101,
        Some("make" | "gmake") => 2,
        _ => 1,
    }
}
