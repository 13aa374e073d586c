import type { ExecutionResult } from 'graphql';
import { fromByteText } from '../../lib/byte-text.ts';
import { isWritten } from './live-rendering.ts';

/** A result that Yoga lets serialise itself. */
interface OwnWriting {
  readonly stringify: (result: unknown) => string;
}

/**
 * Writes a result into an event stream together with its `id:`, which browsers send as `Last-Event-ID` when they reconnect.
 * Yoga writes `data: ` before it, and the lines of an event may come in any order.
 */
export function withEventId(result: ExecutionResult, id: string): ExecutionResult & OwnWriting {
  const write = isWritten(result)
    ? () => fromByteText(result.bytes)
    : (shown: unknown) => JSON.stringify(shown);
  return { ...result, stringify: (shown) => `${write(shown)}\nid: ${id}` };
}
