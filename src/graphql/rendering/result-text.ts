import type { GraphQLError } from 'graphql';
import { JsonText, unlessTooLarge } from './answer.ts';
import type { Place } from './personal-selection.ts';

type Step = string | number;

/** Text of a result with gaps for the viewer's own values. */
export interface ResultText {
  /** One more than there are gaps. */
  readonly texts: readonly string[];
  /** Path of each gap's value in the viewer's own result. */
  readonly gaps: readonly (readonly Step[])[];
}

/** Extracts the shared text from one viewer's result; an error if it is longer than `most`. */
export function sharedText(data: unknown, places: Place, most: number): ResultText | GraphQLError {
  return unlessTooLarge(() => {
    const writer = new Writer(most);
    writer.write(data, places, []);
    return writer.end();
  });
}

/**
 * Text of another viewer's result, as JSON.stringify would give it; `null` if theirs has a different form.
 * @param own the result of the personal part.
 * @param most characters; an error if it is longer.
 */
export function ownText(
  { texts, gaps }: ResultText,
  own: unknown,
  most: number,
): string | GraphQLError | null {
  return unlessTooLarge(() => {
    const json = new JsonText(most);
    json.add(texts[0] ?? '');
    for (const [index, path] of gaps.entries()) {
      const value = valueAt(own, path);
      if (value === undefined) return null;
      json.write(value);
      json.add(texts[index + 1] ?? '');
    }
    return json.take();
  });
}

class Writer {
  readonly #texts: string[] = [];
  readonly #gaps: (readonly Step[])[] = [];
  readonly #json: JsonText;

  constructor(most: number) {
    this.#json = new JsonText(most);
  }

  end(): ResultText {
    return { texts: [...this.#texts, this.#json.take()], gaps: this.#gaps };
  }

  write(value: unknown, place: Place | undefined, path: readonly Step[]): void {
    if (place?.isPersonal === true) {
      this.#texts.push(this.#json.take());
      this.#gaps.push(path);
    } else if (place === undefined || !hasPersonal(place) || typeof value !== 'object' || value === null)
      this.#json.write(value);
    else if (Array.isArray(value)) this.#writeList(value, place, path);
    else this.#writeObject(value, place, path);
  }

  #writeList(list: readonly unknown[], place: Place, path: readonly Step[]): void {
    this.#json.add('[');
    for (const [index, entry] of list.entries()) {
      if (index > 0) this.#json.add(',');
      this.write(entry, place, [...path, index]);
    }
    this.#json.add(']');
  }

  #writeObject(object: object, place: Place, path: readonly Step[]): void {
    let before = '{';
    for (const [key, value] of Object.entries(object)) {
      this.#json.add(`${before}${JSON.stringify(key)}:`);
      this.write(value, place.below.get(key), [...path, key]);
      before = ',';
    }
    this.#json.add(before === '{' ? '{}' : '}');
  }
}

function hasPersonal({ isPersonal, below }: Place): boolean {
  return isPersonal || [...below.values()].some(hasPersonal);
}

function valueAt(result: unknown, path: readonly Step[]): unknown {
  let value = result;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<Step, unknown>>)[step];
  }
  return value;
}
