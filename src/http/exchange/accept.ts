/** Whole answers and answers bit by bit: everything a request can be answered as. */
const WHOLE_TYPES = ['application/graphql-response+json', 'application/json', 'multipart/mixed'];
const STREAM_TYPE = 'text/event-stream';

/** Whether a client that sends this `accept` header can be answered at all. */
export function acceptsAnswers(accept: string | null): boolean {
  return acceptsAny(accept, [...WHOLE_TYPES, STREAM_TYPE]);
}

export function acceptsEvents(accept: string | null): boolean {
  return acceptsAny(accept, [STREAM_TYPE]);
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
