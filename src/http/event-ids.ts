import type { ExecutionResult } from 'graphql';

/** A result that says how it is written, which Yoga then leaves to it. */
interface OwnWriting {
  readonly stringify: (result: unknown) => string;
}

/**
 * Has a result written into an event stream together with its `id:`, so that browsers send it as `Last-Event-ID` when
 * they connect again. Yoga puts what is written behind `data: `, and lines of one event may come in any order.
 */
export function withEventId(result: ExecutionResult, id: string): ExecutionResult & OwnWriting {
  return { ...result, stringify: (shown) => `${JSON.stringify(shown)}\nid: ${id}` };
}
