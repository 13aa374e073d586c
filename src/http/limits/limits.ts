import type { DocumentLimits } from '../../graphql/limits/document-limits.ts';
import type { AnswerLimits } from '../../graphql/rendering/answer.ts';

/** Sums by key, and in total. A key whose sum is zero takes no memory. */
export class Tally {
  readonly #sums = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  /** @param key `null`: counts in total only */
  add(key: string | null, more: number): void {
    if (more === 0) return;
    this.#total += more;
    if (key === null) return;
    const sum = this.of(key) + more;
    if (sum === 0) this.#sums.delete(key);
    else this.#sums.set(key, sum);
  }
}

/** The share of one user of something that is limited in total. */
export const SHARE_OF_USER = 1 / 8;

/** Limits of a process, for one client and for all together. */
export type HttpLimits = Readonly<typeof DEFAULT_LIMITS>;

export const DEFAULT_LIMITS = {
  maxDepth: 12,
  maxAliases: 100,
  maxDirectives: 50,
  /** Maximum request body and socket message of services and admins, in bytes. */
  maxBodyBytes: 10 * 1024 * 1024,
  /** Maximum body and message of other users, in bytes. */
  maxUserBodyBytes: 256 * 1024,
  /** Maximum body of a request without a token, in bytes. */
  maxAnonymousBodyBytes: 64 * 1024,
  /** Total of all bodies and messages in flight, in bytes, without small ones; see intake.ts. */
  maxBodyBytesUnderWay: 64 * 1024 * 1024,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxAnswerValues: 100_000,
  /** Total of all answers being made or sent, in bytes, without small ones; see answers.ts. */
  maxAnswerBytesUnderWay: 64 * 1024 * 1024,
  /** Limits on the shape of JSON in a body or message. */
  json: { maxDepth: 32, maxEntries: 10_000, maxValues: 50_000, maxTextBytes: 1024 * 1024 },
  /** Maximum length of a GraphQL document, in characters; data belongs in variables. */
  maxDocumentLength: 128 * 1024,
  maxTokens: 2_000,
  /** Maximum cost of an operation, if all it requests is as large as it may be; see graphql/limits/cost.ts. */
  maxCost: 50_000,
  /** How long the reads of a query may take, in milliseconds. */
  maxReadMs: 8_000,
  /** Maximum open TCP connections, including sockets; see connections.ts. */
  maxConnections: 10_000,
  /** Maximum requests waiting on one connection for the answers to earlier ones. */
  maxPipelined: 32,
  /** Maximum operations in progress on one socket. */
  maxSubscriptionsPerConnection: 20,
  /** Maximum subscriptions of one user in this process, over all transports. */
  maxSubscriptionsPerUser: 100,
  /** Maximum size of a request's headers, in bytes. */
  maxHeaderBytes: 16 * 1024,
  /** Time limit for receiving the headers of a request, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** Time limit for receiving a whole request, in milliseconds. */
  requestTimeoutMs: 30_000,
  /** How long an idle connection stays open, in milliseconds; longer than load balancers keep it. */
  keepAliveMs: 65_000,
  /** Total of all bytes that clients have not taken, without those that the system has taken. */
  maxUnsentBytes: 128 * 1024 * 1024,
  /**
   * How long a client may take nothing of what it is sent, in milliseconds. The system asks for more only when it has sent
   * a third of what it holds, which may be a megabyte.
   */
  sendTimeoutMs: 60_000,
  /** Time limit for `connection_init` on a socket, in milliseconds. */
  connectionInitMs: 5_000,
  /** How long a socket may have no operation, in milliseconds. Checked when sockets are pinged. */
  socketIdleMs: 300_000,
  /** Ping interval of sockets, in milliseconds; one that has not answered by the next ping is closed. */
  pingMs: 12_000,
  /** How long requests in progress may take when the server closes, in milliseconds. */
  shutdownMs: 8_000,
} satisfies DocumentLimits & AnswerLimits & Readonly<Record<string, unknown>>;
