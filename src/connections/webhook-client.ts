import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { redact } from '../lib/redact.ts';

export type WebhookOutcome =
  | { readonly isTaken: true }
  | {
      readonly isTaken: false;
      /** For admins; nothing of what the receiver wrote. */
      readonly error: string;
      /** What the receiver asked for. */
      readonly retryAfterMs?: number;
    };

export interface WebhookClient extends Disposable {
  /** Resolves within the time limit. Rejects only where the signal has ended it. */
  post(headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<WebhookOutcome>;
}

export interface WebhookClientOptions {
  readonly url: string;
  /** See `WebhookReceiver`. */
  readonly allowPrivateAddress: boolean;
  /** For all of an attempt, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

/** Most of an answer that is read, so that its connection can be used again. */
const MAX_ANSWER_BYTES = 16_384;
const MAX_ERROR_LENGTH = 200;

/**
 * Posts to one receiver. Redirects are not followed: what has moved has to be named in the settings. The address is
 * checked when the connection is made, so a name that leads to a private network, now or later, leads nowhere.
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { url, allowPrivateAddress, timeoutMs, maxConnections } = options;
  const settings = {
    ...{ keepAlive: true, maxSockets: maxConnections },
    ...{ allowPrivateIPAddress: allowPrivateAddress, allowMetaIPAddress: false },
  };
  const isSecure = new URL(url).protocol === 'https:';
  const agent = isSecure ? new RequestFilteringHttpsAgent(settings) : new RequestFilteringHttpAgent(settings);
  const request = isSecure ? requestHttps : requestHttp;

  function send(
    headers: Readonly<Record<string, string>>,
    body: string,
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
      // Also after the answer has begun: nothing may go unheard.
      sent.on('error', reject);
      sent.end(body);
    });
  }

  return {
    async post(headers, body, signal) {
      signal.throwIfAborted();
      // Not AbortSignal.any: a signal that lives as long as the process would keep something of every attempt.
      const attempt = new AbortController();
      const end = (): void => {
        attempt.abort();
      };
      signal.addEventListener('abort', end);
      const timer = setTimeout(end, timeoutMs);
      try {
        const answer = await send(headers, body, attempt.signal);
        await readToItsEnd(answer);
        return outcomeOf(answer);
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

/** The status has said it: what is longer than anybody needs, or breaks off, costs its connection and nothing else. */
async function readToItsEnd(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    answer.destroy();
  }
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): WebhookOutcome {
  if (statusCode >= 200 && statusCode < 300) return { isTaken: true };
  const seconds = /^\d{1,9}$/.exec(headers['retry-after'] ?? '')?.[0];
  return {
    isTaken: false,
    error:
      statusCode >= 300 && statusCode < 400
        ? `Answered ${String(statusCode)}: redirects are not followed`
        : `Answered ${String(statusCode)}`,
    ...(seconds === undefined ? {} : { retryAfterMs: Number(seconds) * 1_000 }),
  };
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return redact(text).slice(0, MAX_ERROR_LENGTH);
}
