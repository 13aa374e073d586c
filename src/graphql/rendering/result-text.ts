import type { Place } from './personal-selection.ts';

type Step = string | number;

/** Text of a result with gaps for the viewer's own values. */
export interface ResultText {
  /** One more than there are gaps. */
  readonly texts: readonly string[];
  /** Path of each gap's value in the viewer's own result. */
  readonly gaps: readonly (readonly Step[])[];
}

/** Extracts the shared text from one viewer's result. */
export function sharedText(data: unknown, places: Place): ResultText {
  const writer = new Writer();
  writer.write(data, places, []);
  return writer.end();
}

/**
 * Text of another viewer's result, as JSON.stringify would give it; `null` if theirs has a different form.
 * @param own the result of the personal part.
 */
export function ownText({ texts, gaps }: ResultText, own: unknown): string | null {
  let text = texts[0] ?? '';
  for (const [index, path] of gaps.entries()) {
    const value = valueAt(own, path);
    if (value === undefined) return null;
    text += JSON.stringify(value) + (texts[index + 1] ?? '');
  }
  return text;
}

class Writer {
  readonly #texts: string[] = [];
  readonly #gaps: (readonly Step[])[] = [];
  #text = '';

  end(): ResultText {
    return { texts: [...this.#texts, this.#text], gaps: this.#gaps };
  }

  write(value: unknown, place: Place | undefined, path: readonly Step[]): void {
    if (place?.isPersonal === true) {
      this.#texts.push(this.#text);
      this.#gaps.push(path);
      this.#text = '';
    } else if (place === undefined || !hasPersonal(place) || typeof value !== 'object' || value === null)
      this.#text += JSON.stringify(value);
    else if (Array.isArray(value)) this.#writeList(value, place, path);
    else this.#writeObject(value, place, path);
  }

  #writeList(list: readonly unknown[], place: Place, path: readonly Step[]): void {
    this.#text += '[';
    for (const [index, entry] of list.entries()) {
      if (index > 0) this.#text += ',';
      this.write(entry, place, [...path, index]);
    }
    this.#text += ']';
  }

  #writeObject(object: object, place: Place, path: readonly Step[]): void {
    let before = '{';
    for (const [key, value] of Object.entries(object)) {
      this.#text += `${before}${JSON.stringify(key)}:`;
      this.write(value, place.below.get(key), [...path, key]);
      before = ',';
    }
    this.#text += before === '{' ? '{}' : '}';
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
