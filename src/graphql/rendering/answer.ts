import { GraphQLError, type ExecutionResult } from 'graphql';
import { Gate } from '../../lib/gate.ts';
import { Reading } from '../../lib/reading.ts';
import { turn } from '../../lib/turn.ts';
import { documentError } from '../errors.ts';

/** Serialised fields of a JSON object that replace one key of a result. */
export class SharedText {
  /** Such as `"a":1,"b":2`: at least one field. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Characters that JSON.stringify escapes; all surrogates are among them, since it escapes lone ones. */
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
  /** The latest text. When it is long enough, it becomes one piece of `#text`. */
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
function* partsOf(value: unknown, levels: number): Generator<(json: JsonText) => void, void, void> {
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

/** Result of work with a `JsonText`, or the error if the text became too long. */
export function unlessTooLarge<T>(work: () => T): T | GraphQLError {
  try {
    return work();
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

function tooLarge(bytes: number): GraphQLError {
  return documentError(
    `The answer is larger than ${String(bytes)} bytes, which is the most allowed: request fewer entries or fields at once`,
  );
}

export interface AnswerLimits {
  /** Maximum size of an answer, in bytes. */
  readonly maxAnswerBytes: number;
  /** Maximum number of values in an answer: objects and their fields. */
  readonly maxAnswerValues: number;
}

export interface AnswerRoom {
  /** Reports how many bytes the answer takes by now. Returns an error to refuse it with; `null` when there is room. */
  resize(bytes: number): GraphQLError | null;
}

/** A result whose data are already text. */
export interface WrittenResult extends ExecutionResult {
  /** Yoga lets a result with this method serialise itself. @param final the result with its errors as clients may see them. */
  readonly stringify: (final: unknown) => string;
}

/** Pages that one operation reads at a time: one of the largest actions takes tens of megabytes while it is read. */
const PAGES_AT_ONCE = 2;
const VALUES_AT_ONCE = 1_000;
/** Characters of parts that are written in one go. */
const LENGTH_AT_ONCE = 256 * 1024;
/** Levels of a result above the entries of a page: data, field, edges, edge. */
const OUTER_LEVELS = 6;
/** Rough memory of a value until the answer is written. */
const VALUE_BYTES = 64;
/** Bytes of a character in UTF-8. */
const MOST_BYTES = 3;
const MAX_ERRORS = 1_000;

/**
 * Counts the size of one answer while it is made: the document does not tell how long lists and texts will be. Beyond a
 * limit, the whole answer becomes an error.
 */
export class Answer {
  readonly #limits: AnswerLimits;
  readonly #room: AnswerRoom | null;
  #pages: Gate | null = null;
  #reading: Reading | null = null;
  #values = 0;
  #length = 0;
  #lengthInTurn = 0;
  #valuesInTurn = 0;
  #waiting = 0;
  #turns: Promise<void> = Promise.resolve();
  #excess: GraphQLError | null = null;

  /** @param room absent: only its own limits apply. */
  constructor(limits: AnswerLimits, room: AnswerRoom | null = null) {
    this.#limits = limits;
    this.#room = room;
  }

  /** The reads for the answer. */
  get reading(): Reading {
    return (this.#reading ??= new Reading());
  }

  /** Reads a page when few others of the operation are being read. */
  page<T>(read: () => T | Promise<T>): Promise<T> {
    return (this.#pages ??= new Gate(PAGES_AT_ONCE)).run(() => {
      if (this.#excess !== null) throw this.#excess;
      this.#reading?.check();
      return Promise.resolve(read());
    });
  }

  /**
   * Counts a list before its entries are made. Entries that are too many to be made in one go become promises, which resolve
   * in later turns of the event loop.
   * @param width values of an entry.
   */
  list(entries: readonly unknown[], width: number): readonly unknown[] {
    if (this.#excess !== null) throw this.#excess;
    const values = entries.length * width;
    this.#count(values);
    if (this.#waiting === 0 && this.#valuesInTurn + values <= VALUES_AT_ONCE) {
      this.#valuesInTurn += values;
      return entries;
    }
    const atOnce = Math.max(1, Math.floor(VALUES_AT_ONCE / width));
    const later: unknown[] = [];
    for (let at = 0; at < entries.length; at += atOnce) {
      const inTurn = this.#nextTurn();
      // Loads under way take their time anyway, and must not fail unobserved.
      for (const entry of entries.slice(at, at + atOnce))
        later.push(entry instanceof Promise ? entry : inTurn.then(() => entry));
    }
    return later;
  }

  /** Counts text that becomes part of the answer. @throws BAD_USER_INPUT if that is too much. */
  add(length: number): void {
    this.#length += length;
    const { maxAnswerBytes } = this.#limits;
    if (this.#length > maxAnswerBytes) this.#fail(tooLarge(maxAnswerBytes));
  }

  /** JSON of a part of the answer. @throws BAD_USER_INPUT if it is too large. */
  async textOf(data: unknown): Promise<string> {
    await this.#rest();
    if (this.#excess !== null) throw this.#excess;
    const text = writtenWithin(this.#limits.maxAnswerBytes, data);
    if (text instanceof GraphQLError) return this.#fail(text);
    this.#lengthInTurn += text.length;
    return text;
  }

  /** The result; an error instead if it has become too much while it was made. */
  checked(result: ExecutionResult): ExecutionResult {
    return this.#excess === null ? result : { errors: [this.#excess] };
  }

  /** The result with its data as text; an error instead if the answer is too large. */
  async write(result: ExecutionResult): Promise<ExecutionResult | WrittenResult> {
    if (this.#excess !== null) return { errors: [this.#excess] };
    const { data } = result;
    const errors = result.errors?.slice(0, MAX_ERRORS);
    const shown = errors === undefined ? result : { ...result, errors };
    if (data == null) return shown;
    const written = await this.#written(data);
    if (written instanceof GraphQLError) return { errors: [written] };
    const excess = this.#room?.resize(written.length) ?? null;
    if (excess !== null) return { errors: [excess] };
    return { ...shown, stringify: (final) => withErrors(written, final as ExecutionResult) };
  }

  #count(values: number): void {
    this.#values += values;
    const { maxAnswerValues: most } = this.#limits;
    const excess = this.#values > most ? tooManyValues(most) : this.#room?.resize(this.#values * VALUE_BYTES);
    if (excess != null) this.#fail(excess);
  }

  /** Nothing more is made of it. */
  #fail(excess: GraphQLError): never {
    this.#excess ??= excess;
    throw this.#excess;
  }

  /** Many values are written in several turns of the event loop, entry by entry of the outer lists. */
  async #written(data: unknown): Promise<string | GraphQLError> {
    const { maxAnswerBytes: most } = this.#limits;
    if (this.#values <= VALUES_AT_ONCE) return writtenWithin(most, data);
    const json = new JsonText(most);
    try {
      for (const part of partsOf(data, OUTER_LEVELS)) {
        part(json);
        if (turn.isOver()) await turn.next();
      }
    } catch (error) {
      if (error instanceof GraphQLError) return error;
      throw error;
    }
    return withinBytes(json.take(), most);
  }

  /** Lets others have a turn if much has been written in this one. */
  async #rest(): Promise<void> {
    if (this.#lengthInTurn < LENGTH_AT_ONCE) return;
    this.#lengthInTurn = 0;
    await this.#nextTurn();
  }

  #nextTurn(): Promise<void> {
    this.#waiting += 1;
    this.#turns = this.#turns.then(async () => {
      if (turn.isOver()) await turn.next();
      this.#waiting -= 1;
      this.#valuesInTurn = 0;
    });
    return this.#turns;
  }
}

/** JSON of a value; an error if it is larger than allowed. */
export function writtenWithin(most: number, value: unknown): string | GraphQLError {
  return unlessTooLarge(() => {
    const json = new JsonText(most);
    json.write(value);
    return withinBytes(json.take(), most);
  });
}

function withinBytes(text: string, most: number): string | GraphQLError {
  return text.length * MOST_BYTES <= most || Buffer.byteLength(text) <= most ? text : tooLarge(most);
}

function withErrors(data: string, { errors }: ExecutionResult): string {
  return errors === undefined ? `{"data":${data}}` : `{"data":${data},"errors":${JSON.stringify(errors)}}`;
}

function tooManyValues(most: number): GraphQLError {
  return documentError(
    `The answer has more than ${String(most)} values, which is the most allowed: request fewer entries or fields at once`,
  );
}
