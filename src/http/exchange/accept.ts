import { LRUCache } from 'lru-cache';

/** Whole answers and answers bit by bit: everything a request can be answered as. */
const WHOLE_TYPES = ['application/graphql-response+json', 'application/json', 'multipart/mixed'];
const STREAM_TYPE = 'text/event-stream';

/** As Yoga has them in its list: the last one is for who takes any. */
const JSON_TYPES = ['application/graphql-response+json', 'application/json'] as const;

/** The content type of a whole answer. */
export type AnswerType = `${(typeof JSON_TYPES)[number]}; charset=utf-8`;

interface Accepted {
  readonly answers: boolean;
  readonly events: boolean;
  readonly type: AnswerType | null;
}

/** By the header: a client sends the same one each time, and there are few kinds of clients. */
const known = new LRUCache<string, Accepted>({ max: 100 });
const MAX_KNOWN_LENGTH = 500;

/** Whether a client that sends this `accept` header can be answered at all. */
export function acceptsAnswers(accept: string | null): boolean {
  return acceptedBy(accept).answers;
}

export function acceptsEvents(accept: string | null): boolean {
  return acceptedBy(accept).events;
}

/** What Yoga answers with where the answer is whole and JSON; null: it is not JSON. */
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

/** Of several that fit Yoga takes the first that the client names. */
function jsonTypeFor(accept: string): AnswerType | null {
  const ranges = (accept === '' ? '*/*' : accept).replace(/\s/g, '').toLowerCase().split(',');
  for (const range of ranges) {
    const [name = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') continue;
    const [type, subtype] = name.split('/');
    const found = JSON_TYPES.findLast((offered) => {
      const [offeredType, offeredSubtype] = offered.split('/');
      return (type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype);
    });
    if (found !== undefined) return `${found}; charset=utf-8`;
  }
  return null;
}

function acceptsAny(accept: string | null, types: readonly string[]): boolean {
  if (accept === null || accept.trim() === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim());
    const charset = parameters.find((parameter) => parameter.startsWith('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') return false;
    return types.some((offered) => matches(type, offered));
  });
}

function matches(range: string, type: string): boolean {
  if (range === '*/*' || range === type) return true;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1));
}
