// The modules of a QR code as it is shown, row by row, 1 for dark.

const picture = find('image', ...arguments);
if (!picture?.complete || !picture.naturalWidth) return null;
const side = 1200;
const canvas = new OffscreenCanvas(side, side).getContext('2d');
canvas.fillStyle = '#fff';
canvas.fillRect(0, 0, side, side);
canvas.drawImage(picture, 0, 0, side, side);
const { data } = canvas.getImageData(0, 0, side, side);
const dark = (x, y) => data[4 * (Math.floor(y) * side + Math.floor(x))] < 128;
let from = 0;
while (!dark(from, from)) from += 1; // the quiet zone ends at a corner of the first finder
let run = 0;
while (dark(from + run, from + 1)) run += 1; // seven modules
const size = 4 * Math.round(((side - 2 * from) * 7) / run / 4 - 17 / 4) + 17;
const module = (side - 2 * from) / size;
const at = (index) => from + (index + 0.5) * module;
return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => (dark(at(x), at(y)) ? '1' : '0')).join(''));
