import { FeedClientError, networkError, protocolError } from './errors.ts';
import { createStreamReader } from './event-stream.ts';
import { answerOf, post } from './post.ts';
import { READER_HEADER, type OneReader } from './one-reader.ts';
import { Silence } from './silence.ts';
import { isAnswer, type Answer, type Transport } from './transport.ts';

export interface SseOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly tenant?: string | undefined;
  readonly reader: OneReader;
}

/** Subscriptions as server-sent events, each the answer to a request of its own. Read no faster than they are taken. */
export function createSseTransport({ url, timeoutMs, tenant, reader }: SseOptions): Transport {
  return async function* subscribe(operation, token, signal) {
    const connection = new AbortController();
    const leave = (): void => {
      connection.abort(networkError('The subscription was left'));
    };
    const silence = new Silence(() => {
      connection.abort(networkError('The server does not answer'));
    });
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      silence.listen(timeoutMs);
      const response = await post({
        ...{ url, token, tenant, operation, accept: 'text/event-stream', signal: connection.signal },
      });
      if (!signal.aborted) reader.check(response.headers.get(READER_HEADER));
      if (!/^text\/event-stream\b/.test(response.headers.get('content-type') ?? ''))
        yield await answerOf(response);
      else if (response.body !== null) yield* answersOf(response.body.getReader(), silence, timeoutMs);
    } catch (error) {
      throw error instanceof FeedClientError ? error : networkError('The stream was interrupted', error);
    } finally {
      silence.stop();
      signal.removeEventListener('abort', leave);
      leave();
    }
  };
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function* answersOf(
  reader: Reader,
  silence: Silence,
  timeoutMs: number,
): AsyncGenerator<Answer, void, undefined> {
  const read = createStreamReader();
  for (;;) {
    silence.listen(timeoutMs);
    const { done, value } = await reader.read();
    // The caller may take as long as it likes over an answer.
    silence.stop();
    // Some browsers see a broken connection as the end of its data.
    if (done || value === undefined) throw networkError('The stream was interrupted');
    for (const { event, data } of read(value)) {
      if (event === 'complete') return;
      if (event === 'next') yield parse(data);
    }
  }
}

function parse(data: string): Answer {
  let answer: unknown;
  try {
    answer = JSON.parse(data);
  } catch (error) {
    throw protocolError('The address does not answer with GraphQL', error);
  }
  if (!isAnswer(answer)) throw protocolError('The address does not answer with GraphQL');
  return answer;
}
