import { answerError } from './errors.ts';
import { answerOf, post, type Server } from './post.ts';
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
  readonly token: FeedClientOptions['token'];
  readonly tell?: (error: unknown) => void;
}

/** A token that was refused is asked for once more, as for a watch. */
export function createRequest(server: Server, { token, tell }: RequestOptions): Request {
  return async <Data>(
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<Data> => {
    const tokens = new Tokens(token);
    const send = async (until: AbortSignal): Promise<Data> => {
      for (;;) {
        const response = await post({
          server,
          token: await tokens.next(until),
          operation: { query, variables },
          accept: 'application/json',
          signal: until,
        });
        const { data, errors } = await answerOf(response);
        if (errors === undefined) return data as Data;
        const error = answerError(errors);
        if (error.code !== 'UNAUTHENTICATED' || !tokens.refused()) throw error;
      }
    };
    const answer = server.reader.during(signal, (ended) => within(server.timeoutMs, ended, send));
    answer.catch((error: unknown) => tell?.(error));
    return answer;
  };
}
