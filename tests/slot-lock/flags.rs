//! Holders that flag their requests: a file beside the label, locked while a request is in flight.

use serde_json::{Value, json};

use crate::kit::{Holder, Slots};

/// Follows the protocol of the manual page with nothing but a shell and flock(1).
const FLAGGING: &str = r#"echo up
while read -r order; do
    case $order in
        say) echo 'I flag' > "$BATON_SLOT_FILE" ;;
        send) exec 8>> "$BATON_SLOT_FILE"; flock 8 ;;
        done) exec 8>&- ;;
        *) exit ;;
    esac
    echo ok
done"#;

fn in_flight(slots: &Slots) -> Value {
    slots.status()["held"][0]["in_flight"].clone()
}

#[test]
fn any_program_can_flag_its_requests_with_flock_1() {
    let slots = Slots::new();
    let words = ["--key", "k", "--slots", "1", "--", "sh", "-c", FLAGGING];
    let mut holder = Holder::start(&slots.run(&words));
    assert_eq!(
        in_flight(&slots),
        Value::Null,
        "who does not flag is not known"
    );
    for (order, flag) in [
        ("say", false),
        ("send", true),
        ("done", false),
        ("send", true),
    ] {
        holder.tell(order);
        assert_eq!(holder.line(), "ok");
        assert_eq!(in_flight(&slots), json!(flag), "{order}");
    }
    // The kernel takes the flag down when its process ends, however it ends.
    holder.finish();
    slots.until(0, 0);

    // What one holder said does not count for the next.
    let next = slots.hold(&["--key", "k", "--slots", "1"]);
    assert_eq!(in_flight(&slots), Value::Null);
    next.finish();
}

#[test]
fn a_flag_file_that_cannot_be_read_says_nothing() {
    let slots = Slots::new();
    let holder = slots.hold(&["--key", "k", "--slots", "1"]);
    std::fs::create_dir(slots.file("flag-0")).unwrap();
    assert_eq!(in_flight(&slots), Value::Null);
    std::fs::remove_dir(slots.file("flag-0")).unwrap();
    std::fs::write(slots.file("flag-0"), [0xff, 0xfe, 0]).unwrap();
    assert_eq!(in_flight(&slots), Value::Null);
    std::fs::write(slots.file("flag-0"), " \n").unwrap();
    assert_eq!(in_flight(&slots), Value::Null, "blanks say nothing");
    holder.finish();
}
