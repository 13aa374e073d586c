import type { DocumentLimits } from '../../graphql/limits/document-limits.ts';
import type { AnswerLimits } from '../../graphql/rendering/answer.ts';
import type { JsonBounds } from '../../lib/json-meter.ts';

/** What one user may use of something that is limited in total. */
export const SHARE_OF_USER = 1 / 8;

/** What one client, and all clients together, may ask of a process. */
export interface HttpLimits extends DocumentLimits, AnswerLimits {
  /** Maximum request body and socket message of services and admins, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum body and message of other users, in bytes. */
  readonly maxUserBodyBytes: number;
  /** Maximum body of a request without a token, in bytes. */
  readonly maxAnonymousBodyBytes: number;
  /** Total of all bodies and messages in flight, in bytes, without small ones; see intake.ts. */
  readonly maxBodyBytesUnderWay: number;
  /** Total of all answers being made or sent, in bytes, without small ones; see answers.ts. */
  readonly maxAnswerBytesUnderWay: number;
  /** Limits on the shape of JSON in a body or message. */
  readonly json: JsonBounds;
  /** Maximum length of a GraphQL document, in characters; data belongs in variables. */
  readonly maxDocumentLength: number;
  readonly maxTokens: number;
  /** Maximum cost of an operation, if all it requests is as large as it may be; see graphql/limits/cost.ts. */
  readonly maxCost: number;
  /** Maximum open TCP connections, including sockets; see connections.ts. */
  readonly maxConnections: number;
  /** Maximum requests waiting on one connection for the answers to earlier ones. */
  readonly maxPipelined: number;
  /** Maximum operations in progress on one socket. */
  readonly maxSubscriptionsPerConnection: number;
  /** Maximum subscriptions of one user in this process, over all transports. */
  readonly maxSubscriptionsPerUser: number;
  /** Maximum size of a request's headers, in bytes. */
  readonly maxHeaderBytes: number;
  /** Time limit for receiving the headers of a request, in milliseconds. */
  readonly headersTimeoutMs: number;
  /** Time limit for receiving a whole request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open, in milliseconds; longer than load balancers keep it. */
  readonly keepAliveMs: number;
  /** Total of all bytes that clients have not taken, without those that the system has taken. */
  readonly maxUnsentBytes: number;
  /**
   * How long a client may take nothing of what it is sent, in milliseconds. The system asks for more only when it has sent
   * a third of what it holds, which may be a megabyte.
   */
  readonly sendTimeoutMs: number;
  /** Time limit for `connection_init` on a socket, in milliseconds. */
  readonly connectionInitMs: number;
  /** How long a socket may have no operation, in milliseconds. Checked when sockets are pinged. */
  readonly socketIdleMs: number;
  /** Ping interval of sockets, in milliseconds; one that has not answered by the next ping is closed. */
  readonly pingMs: number;
  /** How long requests in progress may take when the server closes, in milliseconds. */
  readonly shutdownMs: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  maxDepth: 12,
  maxAliases: 100,
  maxDirectives: 50,
  maxBodyBytes: 10 * 1024 * 1024,
  maxUserBodyBytes: 256 * 1024,
  maxAnonymousBodyBytes: 64 * 1024,
  maxBodyBytesUnderWay: 64 * 1024 * 1024,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxAnswerValues: 100_000,
  maxAnswerBytesUnderWay: 64 * 1024 * 1024,
  json: { maxDepth: 32, maxEntries: 10_000, maxValues: 50_000, maxTextBytes: 1024 * 1024 },
  maxDocumentLength: 128 * 1024,
  maxTokens: 2_000,
  maxCost: 50_000,
  maxConnections: 10_000,
  maxPipelined: 32,
  maxSubscriptionsPerConnection: 20,
  maxSubscriptionsPerUser: 100,
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 65_000,
  maxUnsentBytes: 128 * 1024 * 1024,
  sendTimeoutMs: 60_000,
  connectionInitMs: 5_000,
  socketIdleMs: 300_000,
  pingMs: 12_000,
  shutdownMs: 8_000,
};
