import type { ExecutionResult } from 'graphql';
import { fromByteText } from '../../lib/byte-text.ts';
import { isWritten } from './live-rendering.ts';

/** A result that says how it is written, which Yoga then leaves to it. */
interface OwnWriting {
  readonly stringify: (result: unknown) => string;
}

/**
 * Has a result written into an event stream together with its `id:`, so that browsers send it as `Last-Event-ID` when
 * they connect again. Yoga puts what is written behind `data: `, and lines of one event may come in any order.
 */
export function withEventId(result: ExecutionResult, id: string): ExecutionResult & OwnWriting {
  const write = isWritten(result)
    ? () => fromByteText(result.bytes)
    : (shown: unknown) => JSON.stringify(shown);
  return { ...result, stringify: (shown) => `${write(shown)}\nid: ${id}` };
}
