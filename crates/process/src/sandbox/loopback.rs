//! Bringing up the loopback of a fresh network namespace, by one netlink message.

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink};

// From linux/netlink.h, linux/rtnetlink.h and linux/if.h.
const RTM_NEWLINK: u16 = 16;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const IFF_UP: u32 = 1;
/// The loopback is the first interface of every network namespace.
const LOOPBACK_INDEX: i32 = 1;

pub(crate) fn bring_up() -> io::Result<()> {
    // No protocol number is NETLINK_ROUTE.
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::bind(&socket, &netlink::SocketAddrNetlink::new(0, 0))?;
    rustix::net::send(&socket, &request(), SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, received) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    match error_number(&answer[..received.min(answer.len())]) {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(-number)),
        None => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// `nlmsghdr` and `ifinfomsg`: "interface 1, set the flag UP".
fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend(32_u32.to_ne_bytes());
    bytes.extend(RTM_NEWLINK.to_ne_bytes());
    bytes.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    bytes.extend(1_u32.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(LOOPBACK_INDEX.to_ne_bytes());
    bytes.extend(IFF_UP.to_ne_bytes());
    bytes.extend(IFF_UP.to_ne_bytes());
    bytes
}

/// The error number in an acknowledgement (0 or negative), if it is one.
fn error_number(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let number = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_the_length_it_says() {
        let bytes = request();
        assert_eq!(bytes.len(), 32);
        assert_eq!(u32::from_ne_bytes(bytes[..4].try_into().unwrap()), 32);
    }

    #[test]
    fn an_acknowledgement_is_told_from_other_answers() {
        let mut answer = vec![0; 20];
        answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(error_number(&answer), Some(-1));
        answer[4] = 3;
        assert_eq!(error_number(&answer), None);
        assert_eq!(error_number(&answer[..10]), None);
    }
}
