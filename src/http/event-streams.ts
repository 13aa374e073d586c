import type { ServerResponse } from 'node:http';
import type { Identity } from '../domain/viewer.ts';
import { callAt } from './deadline.ts';
import { sendStream } from './respond.ts';

/** In the words of the protocol: a last result, then the end. */
const EXPIRED = [
  'event: next',
  `data: ${JSON.stringify({ errors: [{ message: 'The token has expired', extensions: { code: 'UNAUTHENTICATED' } }] })}`,
  '',
  'event: complete',
  'data:',
  '',
  '',
].join('\n');

/** The responses that stream. A stream ends when the token of its reader does. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  #isClosed = false;

  /** Streams until the response has ended, the client has left or its token has. */
  async run(res: ServerResponse, response: Response, identity: Identity | null): Promise<void> {
    if (this.#isClosed) res.destroy();
    this.#open.add(res);
    const expiry =
      identity?.expiresAt == null
        ? null
        : callAt(identity.expiresAt, () => {
            res.end(EXPIRED);
          });
    try {
      await sendStream(res, response);
    } finally {
      expiry?.[Symbol.dispose]();
      this.#open.delete(res);
    }
  }

  /**
   * Breaks all streams off, and those that come later. They are not completed: a client that sees its stream broken
   * connects again, one that sees it complete does not.
   */
  close(): void {
    this.#isClosed = true;
    for (const res of this.#open) res.destroy();
  }
}
