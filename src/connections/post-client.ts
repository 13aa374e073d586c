import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { redact } from '../lib/redact.ts';
import { cut } from '../lib/cut.ts';

export type PostOutcome =
  | {
      readonly isTaken: true;
      /** `null`: it broke off or is too long. */
      readonly body: string | null;
    }
  | {
      readonly isTaken: false;
      /** Shown to admins; contains nothing from the receiver's answer. */
      readonly error: string;
      /** Absent: there was no answer. */
      readonly status?: number;
      /** Delay requested by the receiver. */
      readonly retryAfterMs?: number;
    };

export interface PostClient extends Disposable {
  /** Time limit of `post`. */
  readonly timeoutMs: number;
  /** Resolves within the time limit. Rejects only when the signal aborts. */
  post(
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    signal: AbortSignal,
  ): Promise<PostOutcome>;
}

export interface PostClientOptions {
  readonly url: string;
  /** Also private network addresses, and plain HTTP. */
  readonly allowPrivateAddress: boolean;
  /** Time limit of a whole attempt, from DNS lookup to the end of the answer. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  /** Upper bound on bytes read from an answer. Default: 16 KiB. */
  readonly mostBytes?: number;
}

/** Reading an answer to its end lets the connection be reused. */
const MAX_ANSWER_BYTES = 16_384;
const MAX_ERROR_LENGTH = 200;

/**
 * Posts to one receiver. Redirects are not followed: a receiver that moves must be changed in the settings. The address is
 * checked at connection time, so a name cannot resolve to a private network, now or later.
 */
export function createPostClient(options: PostClientOptions): PostClient {
  const { url, allowPrivateAddress, timeoutMs, maxConnections, mostBytes = MAX_ANSWER_BYTES } = options;
  const settings = {
    ...{ keepAlive: true, maxSockets: maxConnections },
    ...{ allowPrivateIPAddress: allowPrivateAddress, allowMetaIPAddress: false },
  };
  const isSecure = new URL(url).protocol === 'https:';
  const agent = isSecure ? new RequestFilteringHttpsAgent(settings) : new RequestFilteringHttpAgent(settings);
  const request = isSecure ? requestHttps : requestHttp;

  function send(
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        ...{ method: 'POST', agent, signal },
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Fanfare',
          ...headers,
        },
      });
      sent.once('response', resolve);
      // Stays registered after the answer has begun: an error without a listener would end the process.
      sent.on('error', reject);
      sent.end(body);
    });
  }

  return {
    timeoutMs,
    async post(headers, body, signal) {
      signal.throwIfAborted();
      // AbortSignal.any would leak: the long-lived signal keeps a reference per attempt.
      const attempt = new AbortController();
      const end = (): void => attempt.abort();
      signal.addEventListener('abort', end);
      const timer = setTimeout(end, timeoutMs);
      try {
        const answer = await send(headers, body, attempt.signal);
        return outcomeOf(answer, await readToItsEnd(answer, mostBytes));
      } catch (error) {
        signal.throwIfAborted();
        if (attempt.signal.aborted)
          return { isTaken: false, error: `No answer within ${String(timeoutMs / 1_000)} s` };
        return { isTaken: false, error: reasonOf(error) };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
      }
    },
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
}

/** For most the status is all that matters. An answer that is too long or breaks off costs only its connection. */
async function readToItsEnd(answer: IncomingMessage, mostBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      chunks.push(chunk as Buffer);
      if (bytes > mostBytes) return null;
    }
  } catch {
    answer.destroy();
    return null;
  }
  return Buffer.concat(chunks).toString();
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, body: string | null): PostOutcome {
  if (statusCode >= 200 && statusCode < 300) return { isTaken: true, body };
  const seconds = /^\d{1,9}$/.exec(headers['retry-after'] ?? '')?.[0];
  return {
    isTaken: false,
    status: statusCode,
    error:
      statusCode >= 300 && statusCode < 400
        ? `Answered ${String(statusCode)}: redirects are not followed`
        : `Answered ${String(statusCode)}`,
    ...(seconds === undefined ? {} : { retryAfterMs: Number(seconds) * 1_000 }),
  };
}

/** For admins. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return cut(redact(text), MAX_ERROR_LENGTH);
}
