import { FeedClientError, networkError, protocolError } from './errors.ts';
import { createStreamReader } from './event-stream.ts';
import { answerOf, post, type Server } from './post.ts';
import { Silence } from './silence.ts';
import { isAnswer, type Answer, type Transport } from './transport.ts';

/** Subscriptions as server-sent events, each the answer to a request of its own. Read no faster than they are taken. */
export function createSseTransport(server: Server): Transport {
  const { timeoutMs } = server;
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
        ...{ server, token, operation, accept: 'text/event-stream', signal: connection.signal },
      });
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
  let cause: unknown;
  try {
    const answer: unknown = JSON.parse(data);
    if (isAnswer(answer)) return answer;
  } catch (error) {
    cause = error;
  }
  throw protocolError('The address does not answer with GraphQL', cause);
}
