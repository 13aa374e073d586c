import type { DocumentLimits } from '../../graphql/limits/document-limits.ts';
import type { JsonBounds } from '../../lib/json-meter.ts';

/** What one client, and all together, may ask of a process. */
export interface HttpLimits extends DocumentLimits {
  /** Largest request body and socket message of a service or an admin, in bytes. */
  readonly maxBodyBytes: number;
  /** Largest body and message of other users, in bytes. */
  readonly maxUserBodyBytes: number;
  /** Largest body of a request without a token, in bytes. */
  readonly maxAnonymousBodyBytes: number;
  /** Bytes of all bodies and messages that are read or worked on at the same time, small ones apart; see intake.ts. */
  readonly maxBodyBytesUnderWay: number;
  /** What a body or message may hold, whatever it means. */
  readonly json: JsonBounds;
  /** Longest GraphQL document, in characters; data belongs into variables. */
  readonly maxDocumentLength: number;
  readonly maxTokens: number;
  /** Objects that one operation may ask for; see graphql/limits/cost.ts. */
  readonly maxCost: number;
  /** Open TCP connections, sockets included. Further ones are closed at once. */
  readonly maxConnections: number;
  /** Requests that may wait on one connection for the answers to earlier ones. */
  readonly maxPipelined: number;
  /** Operations under way on one socket. */
  readonly maxSubscriptionsPerConnection: number;
  /** Subscriptions of one user in this process, whatever they came by. */
  readonly maxSubscriptionsPerUser: number;
  /** Largest request head, in bytes. */
  readonly maxHeaderBytes: number;
  /** Time in milliseconds in which the head of a request must have come. */
  readonly headersTimeoutMs: number;
  /** Time in milliseconds in which a whole request must have come. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept open, in milliseconds; longer than load balancers do. */
  readonly keepAliveMs: number;
  /** Time in milliseconds in which a socket must have sent `connection_init`. */
  readonly connectionInitMs: number;
  /** How long a socket may be without an operation, in milliseconds. Looked at as often as sockets are pinged. */
  readonly socketIdleMs: number;
  /** How often sockets are pinged, in milliseconds; one that does not answer until the next time is dropped. */
  readonly pingMs: number;
  /** How long requests under way may still take when the server closes, in milliseconds. */
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
  json: { maxDepth: 32, maxEntries: 10_000, maxValues: 50_000, maxTextBytes: 1024 * 1024 },
  maxDocumentLength: 128 * 1024,
  maxTokens: 2_000,
  maxCost: 10_000,
  maxConnections: 10_000,
  maxPipelined: 32,
  maxSubscriptionsPerConnection: 20,
  maxSubscriptionsPerUser: 100,
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 65_000,
  connectionInitMs: 5_000,
  socketIdleMs: 300_000,
  pingMs: 12_000,
  shutdownMs: 8_000,
};
