//! Reading a QR code, as a camera's software does once it has found the modules (ISO/IEC 18004): the mask is taken off, the bits
//! are read in their zigzag, the blocks are put in order. A picture on a screen has no damage, so nothing needs correcting.

/// Modules by row and column; `true` is dark.
type Modules = [Vec<bool>];

/// The correction levels as the format bits number them: M, L, H, Q; by version from 1, the correction codewords of a block.
const CORRECTION: [[usize; 12]; 4] = [
    [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22],
    [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24],
    [17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28],
    [13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26],
];
/// Likewise, the number of blocks.
const BLOCKS: [[usize; 12]; 4] = [
    [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8],
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4],
    [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11],
    [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10],
];
/// Lies over the format bits.
const FORMAT_MASK: usize = 0b101_0100_0001_0010;
/// The mode of text that is neither all digits nor all capitals.
const BYTES: usize = 0b0100;

/// The text in a QR code of up to version 12.
pub(super) fn read(modules: &Modules) -> String {
    let version = (modules.len() - 17) / 4;
    let format = format(modules) >> 10;
    let codewords = codewords(modules, version, format & 0b111);
    let data = in_order(&codewords, BLOCKS[format >> 3][version - 1], CORRECTION[format >> 3][version - 1]);
    let mut bits = data.iter().flat_map(|byte| (0..8).rev().map(move |bit| usize::from(byte >> bit & 1)));
    let mut number = |width: usize| bits.by_ref().take(width).fold(0, |number, bit| number << 1 | bit);
    assert_eq!(number(4), BYTES, "a text in bytes");
    let length = number(if version < 10 { 8 } else { 16 });
    let text = (0..length).map(|_| u8::try_from(number(8)).expect("eight bits")).collect();
    String::from_utf8(text).expect("a text")
}

/// The fifteen bits around the upper left corner: level, mask, and their own correction.
fn format(modules: &Modules) -> usize {
    let column = [0, 1, 2, 3, 4, 5, 7, 8].map(|y| modules[y][8]);
    let row = [7, 5, 4, 3, 2, 1, 0].map(|x| modules[8][x]);
    let bits = column.iter().chain(&row).enumerate();
    bits.fold(0, |number, (index, dark)| number | usize::from(*dark) << index) ^ FORMAT_MASK
}

/// All bytes, in the order in which they lie on the picture: two columns at a time from the right, up and down in turns.
fn codewords(modules: &Modules, version: usize, mask: usize) -> Vec<u8> {
    let size = modules.len();
    let columns = (1..size).rev().step_by(2).map(|right| if right <= 6 { right - 1 } else { right });
    let mut bits = Vec::new();
    for right in columns {
        let is_upward = (right + usize::from(right < 6)) % 4 == (size - 1) % 4;
        for step in 0..size {
            let y = if is_upward { size - 1 - step } else { step };
            let pair = [right, right - 1].into_iter().filter(|x| !is_function(*x, y, size, version));
            bits.extend(pair.map(|x| modules[y][x] != is_masked(mask, x, y)));
        }
    }
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |number, dark| number << 1 | u8::from(*dark))).collect()
}

/// Whether a module belongs to the patterns by which a code is found, or to what describes it.
fn is_function(x: usize, y: usize, size: usize, version: usize) -> bool {
    let far = size - 8;
    let (left, top) = (x < 9, y < 9);
    let corner = (left && (top || y >= far)) || (x >= far && top);
    let versions = version >= 7 && ((x < 6 && y >= size - 11) || (y < 6 && x >= size - 11));
    corner || versions || x == 6 || y == 6 || is_alignment(x, y, size, version)
}

fn is_alignment(x: usize, y: usize, size: usize, version: usize) -> bool {
    let centres = centres(size, version);
    let last = centres.len().saturating_sub(1);
    let near = |at: usize| centres.iter().position(|centre| at.abs_diff(*centre) <= 2);
    match (near(x), near(y)) {
        (Some(column), Some(row)) => ![(0, 0), (last, 0), (0, last)].contains(&(column, row)),
        _ => false,
    }
}

/// Where alignment patterns have their centres, on either axis.
fn centres(size: usize, version: usize) -> Vec<usize> {
    if version == 1 {
        return Vec::new();
    }
    let count = version / 7 + 2;
    let step = (version * 8 + count * 3 + 5) / (count * 4 - 4) * 2;
    let far = (0..count - 1).rev().map(|index| size - 7 - index * step);
    std::iter::once(6).chain(far).collect()
}

fn is_masked(mask: usize, x: usize, y: usize) -> bool {
    0 == match mask {
        0 => (x + y) % 2,
        1 => y % 2,
        2 => x % 3,
        3 => (x + y) % 3,
        4 => (x / 3 + y / 2) % 2,
        5 => x * y % 2 + x * y % 3,
        6 => (x * y % 2 + x * y % 3) % 2,
        _ => ((x + y) % 2 + x * y % 3) % 2,
    }
}

/// The data of the blocks one after the other. They lie interleaved: the first byte of each block, the second of each, and so on;
/// the last blocks may be one byte longer.
fn in_order(codewords: &[u8], blocks: usize, correction: usize) -> Vec<u8> {
    let short = codewords.len() / blocks - correction;
    let first_long = blocks - codewords.len() % blocks;
    let mut data = vec![Vec::new(); blocks];
    let places = (0..=short).flat_map(|index| (0..blocks).map(move |block| (index, block)));
    for ((_, block), byte) in places.filter(|(index, block)| *index < short || *block >= first_long).zip(codewords) {
        data[block].push(*byte);
    }
    data.concat()
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
