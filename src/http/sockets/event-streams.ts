import type { ServerResponse } from 'node:http';
import type { Identity } from '../../domain/viewer.ts';
import type { SessionEnds } from '../../realtime/session-ends.ts';
import { callAt } from '../limits/deadline.ts';
import { sendStream } from '../exchange/respond.ts';

/** In the words of the protocol: a last result, then the end. */
function lastWords(message: string): string {
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

const EXPIRED = lastWords('The token has expired');
const ENDED = lastWords('The session was ended');

/** The responses that stream. A stream ends when the token of its reader does, or all sessions of the reader. */
export class EventStreams {
  readonly #sessionEnds: Pick<SessionEnds, 'onEnd'>;
  readonly #open = new Set<ServerResponse>();
  #isClosed = false;

  constructor(sessionEnds: Pick<SessionEnds, 'onEnd'>) {
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

  /** Breaks off all streams, and later ones. They are not completed: a client whose stream breaks connects again. */
  close(): void {
    this.#isClosed = true;
    for (const res of this.#open) res.destroy();
  }

  #endsOf(res: ServerResponse, { userId, expiresAt }: Identity): Disposable[] {
    const ended = this.#sessionEnds.onEnd(userId, () => {
      res.end(ENDED);
    });
    if (expiresAt === null) return [ended];
    const expired = callAt(expiresAt, () => {
      res.end(EXPIRED);
    });
    return [ended, expired];
  }
}
