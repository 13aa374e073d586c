import { answerError, type Tell } from './errors.ts';
import { answerOf, post } from './post.ts';
import { READER_HEADER, type OneReader } from './one-reader.ts';
import { Tokens } from './tokens.ts';
import type { FeedClientOptions } from './types.ts';
import { within } from './within.ts';

/** Sends one operation and gives its data. Rejects with a FeedClientError. */
export type Request = <Data>(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<Data>;

interface RequestOptions {
  readonly url: string;
  readonly token: FeedClientOptions['token'];
  readonly timeoutMs: number;
  readonly tenant?: string | undefined;
  readonly tell?: Tell;
  readonly reader: OneReader;
}

/** A token that was refused is asked for once more, as for a watch. */
export function createRequest({ url, token, timeoutMs, tenant, tell, reader }: RequestOptions): Request {
  return async <Data>(
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<Data> => {
    const tokens = new Tokens(token);
    const send = async (until: AbortSignal): Promise<Data> => {
      for (;;) {
        const response = await post({
          url,
          tenant,
          token: await tokens.next(until),
          operation: { query, variables },
          accept: 'application/json',
          signal: until,
        });
        if (!until.aborted) reader.check(response.headers.get(READER_HEADER));
        const { data, errors } = await answerOf(response);
        if (errors === undefined) return data as Data;
        const error = answerError(errors);
        if (error.code !== 'UNAUTHENTICATED' || !tokens.refused()) throw error;
      }
    };
    const answer = reader.during(signal, (ended) => within(timeoutMs, ended, send));
    answer.catch((error: unknown) => tell?.(error));
    return answer;
  };
}
