import type { AnswerError } from './errors.ts';

export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A GraphQL result, not looked at yet. */
export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly AnswerError[];
}

/**
 * Subscribes over a connection of its own and gives the results one by one. Ends when the server completes the
 * subscription; throws a FeedClientError when the connection is lost or refused. Leaving it, or the signal, closes the
 * connection at once.
 */
export type Transport = (
  operation: Operation,
  token: string,
  signal: AbortSignal,
) => AsyncIterableIterator<Answer>;

/** What came as JSON from outside. */
export function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null) return false;
  const { data, errors } = value as Answer;
  return data !== undefined || (Array.isArray(errors) && errors.length > 0);
}
