import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from '../exchange/respond.ts';
import type { GraphQLError } from 'graphql';
import { apiError } from '../../graphql/errors.ts';

const RETRY_AFTER_S = '1';

/** An error for what may succeed a moment later. */
export function busy(code: 'UNAVAILABLE' | 'RATE_LIMITED', message: string): GraphQLError {
  return apiError(code, `${message}, try again in ${RETRY_AFTER_S} s`, {
    status: code === 'UNAVAILABLE' ? 503 : 429,
    headers: { 'Retry-After': RETRY_AFTER_S },
  });
}

/** Requests of one connection that are not answered yet. */
interface Lane {
  isBusy: boolean;
  /** Set when a client sent too many: later requests are ignored. */
  isOver: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Answers the requests of a connection one at a time. Node emits all pipelined requests at once, and a client that sends
 * thousands would occupy the process for everybody, even after disconnecting.
 */
export class RequestLanes {
  readonly #maxWaiting: number;
  readonly #lanes = new WeakMap<object, Lane>();

  /** @param maxWaiting with more waiting requests the connection is closed after them */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Calls `work` when all earlier responses of the connection have been sent; never if the client left before. */
  enter(req: IncomingMessage, res: ServerResponse, work: () => void): void {
    const { socket } = req;
    let lane = this.#lanes.get(socket);
    if (lane === undefined) this.#lanes.set(socket, (lane = { isBusy: false, isOver: false, waiting: [] }));
    if (lane.isOver) return;
    const { waiting } = lane;
    const begin = (): void => {
      res.once('close', next);
      work();
    };
    const next = (): void => {
      const following = socket.destroyed ? undefined : waiting.shift();
      if (following !== undefined) following();
      else {
        lane.isBusy = false;
        waiting.length = 0;
      }
    };
    if (!lane.isBusy) {
      lane.isBusy = true;
      begin();
    } else if (waiting.length < this.#maxWaiting) waiting.push(begin);
    else {
      lane.isOver = true;
      const error = `More than ${String(this.#maxWaiting)} requests are waiting on this connection`;
      sendJson(res, 429, { error }, { connection: 'close' });
    }
  }
}
