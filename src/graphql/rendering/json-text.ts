import { GraphQLError } from 'graphql';
import { documentError } from '../errors.ts';

/** Serialised fields of a JSON object that replace one key of a result. */
export class SharedText {
  /** Such as `"a":1,"b":2`: at least one field. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What JSON.stringify does not write as it is; any surrogate, since lone ones are escaped. */
const NOT_PLAIN = /["\\\u0000-\u001f\ud800-\udfff]/;
/** Longer texts are quoted faster by JSON.stringify. */
const SHORT = 64;
/** Characters that may be a chain of the texts added, which takes up to 32 bytes of memory for each of them. */
const MAX_CHAIN = 16 * 1024;

/**
 * Writes JSON as `JSON.stringify` does, and stops as soon as it is too long: a field that is requested a hundred times for
 * each of a hundred entries would otherwise become a text that fills the memory. A `SharedText` replaces its key.
 */
export class JsonText {
  readonly #most: number;
  #text = '';
  /** What was added last. Long enough, it becomes one piece of `#text`. */
  #chain = '';
  #taken = 0;

  /** @param most characters of all texts taken from it. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The text since it was last taken. */
  take(): string {
    const text = this.#text + this.#chain;
    this.#taken += text.length;
    this.#text = '';
    this.#chain = '';
    return text;
  }

  /** Adds a text that is part of the JSON. @throws BAD_USER_INPUT if it becomes too long. */
  add(text: string): void {
    this.#chain += text;
    if (this.#taken + this.#text.length + this.#chain.length > this.#most) throw tooLarge(this.#most);
    if (this.#chain.length > MAX_CHAIN) this.#endChain();
  }

  /** Adds a value. @throws BAD_USER_INPUT if it becomes too long. */
  write(value: unknown): void {
    if (typeof value === 'string') this.add(quoted(value));
    else if (typeof value === 'number') this.add(Number.isFinite(value) ? String(value) : 'null');
    else if (typeof value === 'boolean') this.add(value ? 'true' : 'false');
    else if (typeof value !== 'object' || value === null) this.add('null');
    else if (Array.isArray(value)) this.#writeList(value);
    else if ('toJSON' in value && typeof value.toJSON === 'function') this.add(JSON.stringify(value));
    else this.#writeObject(value as Readonly<Record<string, unknown>>);
  }

  #endChain(): void {
    // Looking at a character makes V8 copy a chain into one piece.
    this.#chain.charCodeAt(0);
    this.#text += this.#chain;
    this.#chain = '';
  }

  #writeList(list: readonly unknown[]): void {
    let before = '[';
    for (const entry of list) {
      this.#chain += before;
      this.write(entry);
      before = ',';
    }
    this.add(before === '[' ? '[]' : ']');
  }

  #writeObject(object: Readonly<Record<string, unknown>>): void {
    let before = '{';
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      if (value instanceof SharedText) this.add(before + value.text);
      else {
        this.#chain += `${before}${quoted(key)}:`;
        this.write(value);
      }
      before = ',';
    }
    this.add(before === '{' ? '{}' : '}');
  }
}

/** Writes a value piece by piece: those at so many levels one by one, what is below them as a whole. */
export function* partsOf(value: unknown, levels: number): Generator<(json: JsonText) => void, void, void> {
  const isWhole = levels === 0 || typeof value !== 'object' || value === null || 'toJSON' in value;
  if (isWhole) {
    yield (json) => json.write(value);
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if (inner === undefined && !isList) continue;
    const start = isList || inner instanceof SharedText ? before : `${before}${quoted(key)}:`;
    yield (json) => json.add(start);
    if (inner instanceof SharedText) yield (json) => json.add(inner.text);
    else yield* partsOf(inner, levels - 1);
    before = ',';
  }
  const isEmpty = before !== ',';
  yield (json) => json.add(isList ? (isEmpty ? '[]' : ']') : isEmpty ? '{}' : '}');
}

function quoted(text: string): string {
  return text.length < SHORT && !NOT_PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** What work with a `JsonText` returns, or the error with which it became too long. */
export function unlessTooLarge<T>(work: () => T): T | GraphQLError {
  try {
    return work();
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

export function tooLarge(bytes: number): GraphQLError {
  return documentError(
    `The answer is larger than ${String(bytes)} bytes, which is the most allowed: request fewer entries or fields at once`,
  );
}
