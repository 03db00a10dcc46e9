// SHA-256 (FIPS 180-4). The browser's own is missing where a page is opened over plain http, so that a record would have
// a hash in one place and none in another.

const primes = [...Array(312).keys()].slice(2).filter((n) => ![...Array(n).keys()].slice(2).some((d) => n % d === 0));
const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
const constants = primes.slice(0, 64).map((prime) => fraction(Math.cbrt(prime)));
const turn = (word, by) => (word >>> by) | (word << (32 - by));

function padded(bytes) {
  const made = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  made.set(bytes);
  made[bytes.length] = 0x80;
  const view = new DataView(made.buffer);
  view.setUint32(made.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(made.length - 4, bytes.length << 3);
  return view;
}

function sha256(text) {
  const view = padded(new TextEncoder().encode(text));
  let hash = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)) | 0);
  for (let start = 0; start < view.byteLength; start += 64) {
    const words = [...Array(16).keys()].map((i) => view.getInt32(start + 4 * i));
    for (let i = 16; i < 64; i++) {
      const [x, y] = [words[i - 15], words[i - 2]];
      const first = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const second = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      words.push((words[i - 16] + first + words[i - 7] + second) | 0);
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const mixed = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + mixed + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    hash = [a, b, c, d, e, f, g, h].map((word, i) => (word + hash[i]) | 0);
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
