import type { z } from 'zod';
import type { RecordKind } from '../records.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What becomes of an object of another product. */
export type Mapped =
  | {
      readonly record: Json;
      /** What it has that is not taken over, by name, and why. */
      readonly left: Readonly<Record<string, string>>;
    }
  /** Why none of it is. */
  | { readonly reason: string };

/** An export of another product: how an object of each kind of file becomes a line of ours. A kind that is missing it does not have. */
export type Format = Partial<Readonly<Record<RecordKind, (object: Json) => Mapped>>>;

/** What a format does with the fields of an object. */
export class Fields {
  readonly #object: Json;
  readonly #known = new Set<string>();
  readonly left: Record<string, string> = {};

  constructor(object: Json) {
    this.#object = object;
  }

  take(name: string): unknown {
    this.#known.add(name);
    const value = this.#object[name];
    return value === null ? undefined : value;
  }

  /** Not taken over, for this reason, if it is there. */
  leave(reason: string, ...names: readonly string[]): void {
    for (const name of names) {
      if (!isEmpty(this.take(name))) this.left[name] = reason;
    }
  }

  /** Of an object that was taken, all but these is not taken over. */
  takePart(name: string, reason: string, ...kept: readonly string[]): void {
    for (const one of Object.keys(asObject(this.#object[name])))
      if (!kept.includes(one)) this.left[`${name}.${one}`] = reason;
  }

  /** An address, if it is one that is kept. */
  takeLink(name: string): string | undefined {
    const text = textOf(this.take(name));
    if (text === undefined || text.startsWith('https://')) return text;
    this.left[name] = 'only addresses with https are kept';
    return undefined;
  }

  /** A text that a member may have there. Any other is not taken over, for this reason: the rest of the member is. */
  takeFitting(name: string, schema: z.ZodType, reason: string): string | undefined {
    const text = textOf(this.take(name));
    if (text === undefined || schema.safeParse(text).success) return text;
    this.left[name] = reason;
    return undefined;
  }

  /** All that is neither taken nor left; `undefined`: nothing. */
  rest(): Json | undefined {
    const rest = Object.entries(this.#object).filter(
      ([name, value]) => !this.#known.has(name) && !isEmpty(value),
    );
    return rest.length === 0 ? undefined : Object.fromEntries(rest);
  }
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Of a list its first entry. */
function asObject(value: unknown): Json {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(one) ? one : {};
}

/** Without what has no value. */
export function given(record: Json): Json {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
