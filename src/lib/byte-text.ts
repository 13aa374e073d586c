/**
 * UTF-8 as a string with one character per byte. It can be joined like any other string, its length is the number of bytes,
 * and a socket writes it (as `latin1`) without encoding it.
 */
export function toByteText(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString('latin1');
}

export function fromByteText(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text);
}

/** Merges adjacent strings into one part. */
export function joinTexts<T>(parts: Iterable<string | T>): (string | T)[] {
  const joined: (string | T)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof last === 'string' && typeof part === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

/** Byte order of UTF-8, as in databases. JavaScript's UTF-16 order puts surrogate pairs before U+E000 to U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codeUnitRank(x) - codeUnitRank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above the rest of the basic plane, where their code points belong. */
function codeUnitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
