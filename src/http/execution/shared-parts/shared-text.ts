import { randomBytes } from 'node:crypto';

/** Nobody outside knows it, so no text of a client holds it. */
const MARK = randomBytes(16).toString('hex');
const QUOTED_MARK = JSON.stringify(MARK);

/** Every key by which a part stands in a result is as long as this one. */
export function partKey(index: number): string {
  return `__s${String(index).padStart(KEY_DIGITS, '0')}`;
}

const KEY_DIGITS = 2;
export const MAX_PARTS = 10 ** KEY_DIGITS;
/** The key, its quotes and the colon. */
const KEY_LENGTH = partKey(0).length + '"":'.length;

let collected: string[] = [];

/** Fields of a JSON object, as text, that stand in a result in place of one key. */
export class SharedText {
  /** As in `"a":1,"b":2`: at least one field. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Called in the order in which the texts stand in the result. */
  toJSON(): string {
    collected.push(this.text);
    return MARK;
  }
}

/** As `JSON.stringify`, with the texts in their places. */
export function stringifyShared(result: unknown): string {
  collected = [];
  const pieces = JSON.stringify(result).split(QUOTED_MARK);
  const last = pieces.length - 1;
  let text = '';
  // The key is cut off a piece, and not off the text, which would be copied each time.
  for (let index = 0; index < last; index++)
    text += (pieces[index] ?? '').slice(0, -KEY_LENGTH) + (collected[index] ?? '');
  text += pieces[last] ?? '';
  collected = [];
  return text;
}
