import type { Line } from '../../../../src/lib/lines.ts';
import type { RecordKind } from '../records.ts';
import { activitystreams } from './activitystreams.ts';
import { isObject, type Format } from './format.ts';
import { getstream } from './getstream.ts';
import { knock } from './knock.ts';

export const FORMATS: Readonly<Record<string, Format>> = { getstream, knock, activitystreams };

/** Further names and reasons are counted together: an export may have as many as it has objects. */
const MAX_REASONS = 200;
const OTHERS = 'others';

/** Lines of another product in the form of ours, and what became of them. */
export class Mapping {
  readonly #name: string;
  readonly #format: Format;
  readonly #kinds = new Map<RecordKind, { mapped: number; readonly not: Tally; readonly left: Tally }>();

  constructor(name: string) {
    this.#name = name;
    this.#format = FORMATS[name] ?? {};
  }

  /** Kinds of files that the product has nothing for. */
  missing(kinds: readonly RecordKind[]): readonly RecordKind[] {
    return kinds.filter((kind) => this.#format[kind] === undefined);
  }

  line(kind: RecordKind, line: Line): Line {
    const map = this.#format[kind];
    const object = line.fault === null ? parsed(line.text) : undefined;
    if (map === undefined || !isObject(object)) return line;
    const counts = this.#countsOf(kind);
    const mapped = map(object);
    if ('reason' in mapped) {
      counts.not.count(mapped.reason);
      return { number: line.number, text: null, fault: `Not mapped: ${mapped.reason}` };
    }
    counts.mapped += 1;
    for (const [name, reason] of Object.entries(mapped.left)) counts.left.count(`${name}: ${reason}`);
    return { number: line.number, text: JSON.stringify(mapped.record), fault: null };
  }

  /** What was mapped, what was not, and why, with how often. */
  *report(): Generator<string> {
    for (const [kind, { mapped, not, left }] of this.#kinds) {
      yield `${kind} of ${this.#name}: ${shown(mapped)} mapped, ${shown(not.total)} not`;
      yield* not.rows('  not mapped');
      yield* left.rows('  not taken over');
    }
  }

  #countsOf(kind: RecordKind) {
    const counts = this.#kinds.get(kind) ?? { mapped: 0, not: new Tally(), left: new Tally() };
    this.#kinds.set(kind, counts);
    return counts;
  }
}

class Tally {
  readonly #counts = new Map<string, number>();
  total = 0;

  count(reason: string): void {
    const isFull = this.#counts.size >= MAX_REASONS && !this.#counts.has(reason);
    const name = isFull ? OTHERS : reason;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.total += 1;
  }

  *rows(what: string): Generator<string> {
    for (const [reason, count] of [...this.#counts].sort(([, one], [, other]) => other - one))
      yield `${what} ${shown(count).padStart(9)}  ${reason}`;
  }
}

function shown(count: number): string {
  return count.toLocaleString('en');
}

/** `undefined`: not JSON, which the reader of the line reports. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
