//! Mutations of an input: bytes changed, repeated, cut and moved, words of the target's dictionary put in, two inputs joined.

use rand::{Rng, RngExt, rngs::SmallRng};

/// Inputs do not grow beyond this.
const LONGEST: usize = 8 * 1_024;
/// Bytes at which parsers' rules change.
const SPECIAL: &[u8] = b"\0\t\r\n \"%&'()+,-./0:;<=>?@[\\]^_`{|}~\x7f\x80\xc2\xe2\xef\xff";

/// A new input, made of one of the corpus and perhaps a second.
pub(crate) fn mutated(random: &mut SmallRng, corpus: &[Vec<u8>], dictionary: &[&str]) -> Vec<u8> {
    let mut input = pick(random, corpus).clone();
    for _ in 0..random.random_range(1..=6) {
        once(random, &mut input, corpus, dictionary);
    }
    input.truncate(LONGEST);
    input
}

fn once(random: &mut SmallRng, input: &mut Vec<u8>, corpus: &[Vec<u8>], dictionary: &[&str]) {
    let at = random.random_range(0..=input.len());
    match random.random_range(0..9) {
        0 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
        1 if at < input.len() => input[at] = byte(random),
        2 => input.insert(at, byte(random)),
        3 => drop(input.drain(at..input.len().min(at + random.random_range(1..=16)))),
        4 => {
            let piece = input[at..input.len().min(at + random.random_range(1..=32))].to_vec();
            let times = if random.random_bool(0.05) { random.random_range(1..=64) } else { 1 };
            let to = random.random_range(0..=input.len());
            input.splice(to..to, piece.repeat(times));
        }
        5 if !dictionary.is_empty() => {
            let word = dictionary[random.random_range(0..dictionary.len())];
            let end = if random.random_bool(0.5) { at } else { input.len().min(at + word.len()) };
            input.splice(at..end, word.bytes());
        }
        6 => {
            let other = pick(random, corpus);
            let from = random.random_range(0..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        7 => {
            let mut utf8 = [0; 4];
            let character = char::from_u32(random.random_range(0x80..0x11_0000)).unwrap_or('\u{200b}');
            input.splice(at..at, character.encode_utf8(&mut utf8).bytes());
        }
        _ => input.truncate(at),
    }
}

fn byte(random: &mut SmallRng) -> u8 {
    if random.random_bool(0.5) { SPECIAL[random.random_range(0..SPECIAL.len())] } else { (random.next_u32() & 0xff) as u8 }
}

fn pick<'a>(random: &mut SmallRng, corpus: &'a [Vec<u8>]) -> &'a Vec<u8> {
    &corpus[random.random_range(0..corpus.len())]
}
