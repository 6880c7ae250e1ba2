//! Reading a QR code, as a camera's software does once it has found the modules, by a decoder that shares no line with the encoder.

use rqrr::{Grid, SimpleGrid};

/// The text in a QR code; modules by row and column, `true` is dark.
pub(super) fn read(modules: &[Vec<bool>]) -> String {
    let grid = SimpleGrid::from_func(modules.len(), |x, y| modules[y][x]);
    let (_, text) = Grid::new(grid).decode().unwrap_or_else(|error| panic!("no camera reads this: {error}"));
    text
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_was_written_is_read() {
        for length in [10, 40, 90, 130, 170, 210] {
            let text: String = "otpauth://totp/Acme%20Rockets:ada@acme.example?secret=".chars().cycle().take(length).collect();
            let code = qrcodegen::QrCode::encode_text(&text, qrcodegen::QrCodeEcc::Medium).expect("it fits");
            let modules: Vec<Vec<bool>> =
                (0..code.size()).map(|y| (0..code.size()).map(|x| code.get_module(x, y)).collect()).collect();
            assert_eq!(read(&modules), text);
        }
    }
}
