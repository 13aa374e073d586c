import type { ServerResponse } from 'node:http';
import type { Identity } from '../../domain/viewer.ts';
import type { SessionEnds } from '../../live/session-ends.ts';
import { callAt } from '../limits/deadline.ts';
import { sendStream } from '../exchange/respond.ts';

/** A last result, then the end, in the format of the protocol. */
function closeMessage(message: string): string {
  return [
    'event: next',
    `data: ${JSON.stringify({ errors: [{ message, extensions: { code: 'UNAUTHENTICATED' } }] })}`,
    '',
    'event: complete',
    'data:',
    '',
    '',
  ].join('\n');
}

const EXPIRED = closeMessage('The token has expired');
const ENDED = closeMessage('The session was ended');

/** Streaming responses. A stream ends when its reader's token expires, or all of the reader's sessions are ended. */
export class EventStreams {
  readonly #sessionEnds: SessionEnds;
  readonly #open = new Set<ServerResponse>();
  #isClosed = false;

  constructor(sessionEnds: SessionEnds) {
    this.#sessionEnds = sessionEnds;
  }

  /** Streams until the response has ended, the client has left, or its token or session has ended. */
  async run(res: ServerResponse, response: Response, identity: Identity | null): Promise<void> {
    if (this.#isClosed) res.destroy();
    this.#open.add(res);
    const ends = identity === null ? [] : this.#endsOf(res, identity);
    try {
      await sendStream(res, response);
    } finally {
      for (const end of ends) end[Symbol.dispose]();
      this.#open.delete(res);
    }
  }

  /** Aborts all current and later streams. They are not completed, so that clients reconnect. */
  close(): void {
    this.#isClosed = true;
    for (const res of this.#open) res.destroy();
  }

  #endsOf(res: ServerResponse, { userId, expiresAt }: Identity): Disposable[] {
    const ended = this.#sessionEnds.onEnd(userId, () => res.end(ENDED));
    if (expiresAt === null) return [ended];
    const expired = callAt(expiresAt, () => res.end(EXPIRED));
    return [ended, expired];
  }
}
