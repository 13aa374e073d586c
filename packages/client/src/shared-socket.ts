import { answerError, FeedClientError, networkError, protocolError, type AnswerError } from './errors.ts';
import { Inbox } from './inbox.ts';
import { tenantIn, type Server } from './post.ts';
import { Silence } from './silence.ts';
import { isAnswer, type Answer, type Operation } from './transport.ts';
import type { WebSocketConstructor } from './types.ts';

export interface SharedSocketOptions {
  readonly server: Server;
  readonly token: string;
  readonly webSocket: WebSocketConstructor;
  /** The server has taken the token. What it throws ends the socket. @param said with it */
  readonly onTaken: (said: Readonly<Record<string, string | undefined>>) => void;
  /** The socket is over, or nobody is left on it: the next subscription needs another. */
  readonly onEnd: () => void;
}

/** One subscription on a socket. */
export interface Line {
  readonly inbox: Inbox<Answer>;
  readonly leave: () => void;
}

interface Subscribed {
  readonly inbox: Inbox<Answer>;
  readonly operation: Operation;
}

/** What the server sends, by the protocol graphql-transport-ws. */
interface Message {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly payload?: unknown;
}

/** Results that wait for a slow taker. With more the subscription is left; it resumes where the taker is. */
const MAX_WAITING = 1_000;
/** `readyState` of a socket. */
const OPEN = 1;

/** One connection by the protocol graphql-transport-ws for all subscriptions with one token. It never connects again. */
export class SharedSocket {
  readonly #options: SharedSocketOptions;
  readonly #subscribed = new Map<string, Subscribed>();
  readonly #socket: InstanceType<WebSocketConstructor>;
  /** Until the server has taken the token, and after a ping. */
  readonly #silence = new Silence(() => {
    this.#end(networkError('The server does not answer'));
  });
  /** Until it has said nothing for so long that it is asked whether it is still there. */
  readonly #quiet = new Silence(() => {
    this.#send({ type: 'ping' });
    this.#silence.listen(this.#options.server.timeoutMs / 2);
  });
  #count = 0;
  #isTaken = false;
  #isOver = false;

  constructor(options: SharedSocketOptions) {
    this.#options = options;
    const { server, token, webSocket: Socket } = options;
    const { url, timeoutMs, tenant } = server;
    try {
      this.#socket = new Socket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
    } catch (error) {
      throw networkError('The socket has failed', error);
    }
    const socket = this.#socket;
    this.#silence.listen(timeoutMs);
    socket.addEventListener('open', () => {
      this.#send({
        type: 'connection_init',
        payload: { authorization: `Bearer ${token}`, ...tenantIn(tenant) },
      });
    });
    socket.addEventListener('message', ({ data }) => {
      this.#take(parsed(data));
    });
    socket.addEventListener('error', (event) => {
      this.#end(networkError('The socket has failed', event));
    });
    socket.addEventListener('close', (event) => {
      this.#end(lossOf(event));
    });
  }

  subscribe(operation: Operation): Line {
    const inbox = new Inbox<Answer>();
    const id = String((this.#count += 1));
    this.#subscribed.set(id, { inbox, operation });
    if (this.#isTaken) this.#subscribe(id, operation);
    return {
      inbox,
      leave: () => {
        this.#leave(id, true);
      },
    };
  }

  #take({ type, id, payload }: Message): void {
    if (this.#isOver) return;
    if (type === 'connection_ack') {
      try {
        this.#options.onTaken((payload ?? {}) as Readonly<Record<string, string | undefined>>);
      } catch (error) {
        this.#end(error as FeedClientError);
        return;
      }
      this.#isTaken = true;
      for (const [one, { operation }] of this.#subscribed) this.#subscribe(one, operation);
    } else if (type === 'ping') this.#send({ type: 'pong' });
    else if (typeof type !== 'string') this.#end(protocolError('The address does not answer with GraphQL'));
    // What was left may still be on its way.
    const inbox = this.#subscribed.get(String(id))?.inbox;
    if (type === 'next') {
      if (!isAnswer(payload)) inbox?.end(protocolError('The address does not answer with GraphQL'));
      else if ((inbox?.size ?? 0) >= MAX_WAITING) inbox?.end(networkError('Events come faster than taken'));
      else inbox?.push(payload);
    } else if (type === 'error' || type === 'complete') {
      const errors = Array.isArray(payload) ? (payload as readonly AnswerError[]) : [];
      inbox?.end(type === 'error' ? answerError(errors) : 'complete');
      this.#leave(String(id), false);
    }
    if (!this.#isTaken || this.#subscribed.size === 0) return;
    this.#silence.stop();
    this.#quiet.listen(this.#options.server.timeoutMs / 2);
  }

  #subscribe(id: string, payload: Operation): void {
    this.#send({ type: 'subscribe', id, payload });
  }

  #send(message: Message): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** The last to leave closes the socket. */
  #leave(id: string, isAnnounced: boolean): void {
    if (!this.#subscribed.delete(id)) return;
    if (this.#subscribed.size === 0) this.#close();
    else if (isAnnounced) this.#send({ type: 'complete', id });
  }

  #end(error: FeedClientError): void {
    for (const { inbox } of this.#subscribed.values()) inbox.end(error);
    this.#close();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
    this.#silence.stop();
    this.#quiet.stop();
    this.#socket.close();
  }
}

/** Close codes that say the token is none (any more), and those that the next attempt would get as well. */
const UNAUTHENTICATED: ReadonlySet<number> = new Set([4401, 4403]);
const SENSELESS: ReadonlySet<number> = new Set([
  1002, 1003, 1007, 1009, 1010, 4004, 4005, 4400, 4406, 4409, 4429,
]);

function lossOf({ code, reason }: { readonly code: number; readonly reason: string }): FeedClientError {
  const message = `The socket was closed: ${String(code)} ${reason}`.trimEnd();
  if (UNAUTHENTICATED.has(code))
    return new FeedClientError('UNAUTHENTICATED', reason === '' ? message : reason);
  return SENSELESS.has(code) ? protocolError(message) : networkError(message);
}

/** Nothing of a server that speaks another protocol. */
function parsed(data: unknown): Message {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === 'object' && message !== null ? message : {};
  } catch {
    return {};
  }
}
