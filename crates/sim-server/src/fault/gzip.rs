//! Just enough of gzip to send a body nobody asked to be compressed: stored blocks only.

/// Wraps bytes as a gzip file.
pub(crate) fn wrap(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let mut chunks = bytes.chunks(0xffff).peekable();
    while let Some(chunk) = chunks.next() {
        let length = u16::try_from(chunk.len()).unwrap_or(u16::MAX);
        out.push(u8::from(chunks.peek().is_none()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(chunk);
    }
    out.extend_from_slice(&crc32(bytes).to_le_bytes());
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_the_known_one() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
