import { randomBytes } from 'node:crypto';

/** Unguessable, so that no client's text can contain it. */
const MARK = randomBytes(16).toString('hex');
const QUOTED_MARK = JSON.stringify(MARK);

/** All keys of parts have the same length. */
export function partKey(index: number): string {
  return `__s${String(index).padStart(KEY_DIGITS, '0')}`;
}

const KEY_DIGITS = 2;
export const MAX_PARTS = 10 ** KEY_DIGITS;
/** The key with its quotes and the colon. */
const KEY_LENGTH = partKey(0).length + '"":'.length;

let collected: string[] = [];

/** Serialised fields of a JSON object that replace one key of a result. */
export class SharedText {
  /** Such as `"a":1,"b":2`: at least one field. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Called in the order in which the texts occur in the result. */
  toJSON(): string {
    collected.push(this.text);
    return MARK;
  }
}

/** Like `JSON.stringify`, with the texts inserted in their places. */
export function stringifyShared(result: unknown): string {
  collected = [];
  const pieces = JSON.stringify(result).split(QUOTED_MARK);
  const last = pieces.length - 1;
  let text = '';
  // Trim the key from the piece instead of the whole text, which would be copied each time.
  for (let index = 0; index < last; index++)
    text += (pieces[index] ?? '').slice(0, -KEY_LENGTH) + (collected[index] ?? '');
  text += pieces[last] ?? '';
  collected = [];
  return text;
}
