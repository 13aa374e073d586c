import { LRUCache } from 'lru-cache';

/** All content types of answers, complete or streamed. */
const WHOLE_TYPES = ['application/graphql-response+json', 'application/json', 'multipart/mixed'];
const STREAM_TYPE = 'text/event-stream';

/** In Yoga's order; the last one is used when the client accepts any type. */
const JSON_TYPES = ['application/graphql-response+json', 'application/json'] as const;

/** Content type of a complete answer. */
export type AnswerType = `${(typeof JSON_TYPES)[number]}; charset=utf-8`;

interface Accepted {
  readonly answers: boolean;
  readonly events: boolean;
  readonly type: AnswerType | null;
}

/** Cached by header: there are few kinds of clients, and each always sends the same one. */
const known = new LRUCache<string, Accepted>({ max: 100 });
const MAX_KNOWN_LENGTH = 500;

/** Whether a client with this `accept` header can be answered at all. */
export function acceptsAnswers(accept: string | null): boolean {
  return acceptedBy(accept).answers;
}

export function acceptsEvents(accept: string | null): boolean {
  return acceptedBy(accept).events;
}

/** Content type that Yoga would choose for a complete JSON answer; `null`: another kind of answer. */
export function answerType(accept: string | null): AnswerType | null {
  return acceptedBy(accept).type;
}

function acceptedBy(accept: string | null): Accepted {
  const header = accept ?? '';
  let accepted = known.get(header);
  if (accepted !== undefined) return accepted;
  accepted = {
    answers: acceptsAny(accept, [...WHOLE_TYPES, STREAM_TYPE]),
    events: acceptsAny(accept, [STREAM_TYPE]),
    type: jsonTypeFor(header),
  };
  if (header.length <= MAX_KNOWN_LENGTH) known.set(header, accepted);
  return accepted;
}

/** Yoga takes the first type the client lists that is acceptable. */
function jsonTypeFor(accept: string): AnswerType | null {
  const ranges = (accept === '' ? '*/*' : accept).replace(/\s/g, '').toLowerCase().split(',');
  const refused = refusedIn(ranges.map((range) => range.split(';')));
  for (const range of ranges) {
    const [name = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') continue;
    if (parameters.some(isNever)) continue;
    const [type, subtype] = name.split('/');
    const found = JSON_TYPES.findLast((offered) => {
      const [offeredType, offeredSubtype] = offered.split('/');
      if (refused.has(offered)) return false;
      return (type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype);
    });
    if (found !== undefined) return `${found}; charset=utf-8`;
  }
  return null;
}

function acceptsAny(accept: string | null, types: readonly string[]): boolean {
  if (accept === null || accept.trim() === '') return true;
  const ranges = accept.split(',').map((range) =>
    range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim()),
  );
  const refused = refusedIn(ranges);
  return ranges.some(([type = '', ...parameters]) => {
    const charset = parameters.find((parameter) => parameter.startsWith('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') return false;
    if (parameters.some(isNever)) return false;
    return types.some((offered) => !refused.has(offered) && matches(type, offered));
  });
}

/** A type with the quality 0 is not accepted. */
function isNever(parameter: string): boolean {
  return /^q\s*=\s*0(?:\.0*)?$/.test(parameter);
}

/** Types that the client excludes although a wider range has them. */
function refusedIn(ranges: readonly (readonly string[])[]): ReadonlySet<string> {
  return new Set(ranges.flatMap(([type = '', ...parameters]) => (parameters.some(isNever) ? [type] : [])));
}

function matches(range: string, type: string): boolean {
  if (range === '*/*' || range === type) return true;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1));
}

/**
 * The value of a variable as a list of one, or an empty list if it is omitted: an omitted variable has its default, whereas
 * `null` does not, so the two must be distinguished.
 */
export function valueGiven(values: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  return Object.hasOwn(values, name) ? [values[name]] : [];
}
