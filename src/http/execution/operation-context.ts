import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Locale } from '../../descriptors/locale.ts';
import type { Answer } from '../../graphql/rendering/answer.ts';
import type { Caller } from '../identity/auth.ts';
import type { SocketFrames } from '../exchange/socket-frames.ts';
import type { ShareState } from '../limits/rate-limit.ts';

interface OperationParams {
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Facts about an operation before it runs, over HTTP or a socket. */
export interface RequestContext {
  readonly caller: Caller;
  /** On the `performance.now()` clock. */
  readonly startedAt: number;
  /** Whether the caller can receive a stream of results. */
  readonly mayStream: boolean;
  /** Last event of a stream the client has received, sent by browsers when they reconnect. */
  readonly lastEventId?: string | undefined;
  /** The client's trace, from the header of this name. */
  readonly traceparent?: string | undefined;
  /** The language of its sentences. */
  readonly locale: Locale;
  /** Rejects the request whatever it asks; absent: not rejected. */
  readonly refusal?: Error | undefined;
  /** The size so far of the answer to a query or mutation. */
  readonly answer: Answer;
  /** Sends serialised results on a socket; absent: not on a socket. */
  readonly frames?: SocketFrames | undefined;
  /** The caller's use of their rate limits, for the headers of the answer. */
  readonly shares?: ShareState[];
  /** Set once the document has been parsed. */
  document?: DocumentNode;
  params?: OperationParams;
  /** Set if the operation has already run, so that Yoga only has to answer. */
  outcome?: Outcome;
}

/** Outcome of an operation. */
export type Outcome = { readonly result: ExecutionResult } | { readonly error: unknown };
