//! Which faults are on, and for which requests.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Effect, Fault, find};
use crate::script::Range;

/// A fault that is on.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    pub(crate) fault: &'static Fault,
    /// The requests it acts on: chat requests by their number, others by their number on the path.
    range: Range,
    /// How many more requests it acts on.
    left: Option<u64>,
}

/// The faults that are on.
#[derive(Debug, Default)]
pub(crate) struct Switchboard {
    active: Vec<Active>,
    /// Requests so far on each path.
    seen: HashMap<String, u64>,
}

/// Reads `NAME`, `NAME@3` or `NAME@2..4`.
pub(crate) fn parse(text: &str) -> Result<Active, String> {
    let (name, range) = text.split_once('@').unwrap_or((text, "0.."));
    let fault = find(name).ok_or_else(|| unknown(name))?;
    Ok(Active {
        fault,
        range: Range::parse(range)?,
        left: None,
    })
}

fn unknown(name: &str) -> String {
    let near = super::ALL
        .iter()
        .map(|fault| (strsim::osa_distance(fault.name, name), fault.name));
    let near = near.min().filter(|(distance, _)| *distance <= 4);
    let hint = near
        .map(|(_, near)| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    format!("there is no fault `{name}`{hint} (--list-faults shows all)")
}

impl Active {
    /// Reads `{"fault": "NAME", "at": "2..4" or 3, "times": 1}`.
    pub(crate) fn from_json(value: &Value) -> Result<Self, String> {
        let name = value["fault"]
            .as_str()
            .ok_or("say which fault: {\"fault\": \"name\"}")?;
        let mut active = parse(name)?;
        let at = &value["at"];
        if !at.is_null() {
            let text = at.as_str().map_or_else(|| at.to_string(), str::to_owned);
            active.range = Range::parse(&text)?;
        }
        active.left = value["times"].as_u64();
        Ok(active)
    }
}

impl Switchboard {
    pub(crate) fn new(active: Vec<Active>) -> Self {
        Self {
            active,
            seen: HashMap::new(),
        }
    }

    pub(crate) fn switch_on(&mut self, active: Active) {
        self.active.push(active);
    }

    /// Switches one fault off, or all.
    pub(crate) fn switch_off(&mut self, name: Option<&str>) {
        self.active
            .retain(|active| name.is_some_and(|name| active.fault.name != name));
    }

    pub(crate) fn list(&self) -> Value {
        let entry = |active: &Active| json!({"fault": active.fault.name, "times": active.left});
        self.active.iter().map(entry).collect()
    }

    /// The faults that act on the next request of a path, before it is known what it asks.
    pub(crate) fn on_path(&mut self, path: &str) -> Vec<&'static Fault> {
        let seen = self.seen.entry(path.to_owned()).or_default();
        *seen += 1;
        let number = *seen;
        self.take(number, |effect| {
            matches!(effect, Effect::Route(_) | Effect::Edit(_))
        })
    }

    /// The faults that act on a chat request.
    pub(crate) fn on_chat(&mut self, number: u64) -> Vec<&'static Fault> {
        self.take(number, |effect| {
            !matches!(effect, Effect::Route(_) | Effect::Edit(_))
        })
    }

    fn take(&mut self, number: u64, acts: impl Fn(&Effect) -> bool) -> Vec<&'static Fault> {
        let mut taken = Vec::new();
        for active in &mut self.active {
            if !acts(&active.fault.effect) || !active.range.holds(number) || active.left == Some(0)
            {
                continue;
            }
            if let Some(left) = &mut active.left {
                *left -= 1;
            }
            taken.push(active.fault);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_acts_on_its_requests_only() {
        let mut board = Switchboard::new(vec![parse("no-done@2..3").unwrap()]);
        let acts: Vec<bool> = (1..=4).map(|n| !board.on_chat(n).is_empty()).collect();
        assert_eq!(acts, [false, true, true, false]);
        let once = Active::from_json(&json!({"fault": "loading", "times": 1})).unwrap();
        board.switch_on(once);
        assert_eq!(board.on_path("/health").len(), 1);
        assert!(board.on_path("/health").is_empty());
    }

    #[test]
    fn a_wrong_name_gets_a_hint() {
        assert!(parse("no-don").unwrap_err().contains("`no-done`"));
    }
}
