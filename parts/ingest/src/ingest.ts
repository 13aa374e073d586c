import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'graphql';
import { keyOfContent, type KeyOf } from '../../import/src/records.ts';
import { Acting } from '../../../src/core/stored-input.ts';
import type { PublishActionInput, PublishOutcome } from '../../../src/core/shapes.ts';
import { requireRole } from '../../../src/core/validate.ts';
import { badInput } from '../../../src/domain/errors.ts';
import { tenantOf } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { publishActions } from '../../../src/features/publish/publish-action.ts';
import { apiError } from '../../../src/graphql/errors.ts';
import { operationCost } from '../../../src/graphql/limits/cost.ts';
import { findOperation } from '../../../src/graphql/limits/document-limits.ts';
import { enter, sendError, toError } from '../../../src/http/admission.ts';
import { drainedOrClosed, sendJson, type Handler } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { unauthenticated, type Caller } from '../../../src/http/identity/auth.ts';
import { callAfter, callAt } from '../../../src/http/limits/deadline.ts';
import { refusalFor } from '../../../src/http/limits/rate-limit.ts';
import { DamagedText, linesOf } from '../../../src/lib/lines.ts';
import { BodyChunks, inItsOwnTime } from './body.ts';
import { recordLines, type Answer } from './record-lines.ts';

/** What a request holds at most: batches, what a decompressor holds, a line that has begun, and answers. */
const ROOM_BYTES = 6 * 1_024 * 1_024;
/** Answers that wait for a client that sends all before it reads anything: those to more than ten thousand lines. */
const UNREAD_BYTES = 2 * 1_024 * 1_024;
/** How long a client may go on sending after the line that says why its request ends, in milliseconds. */
const GOODBYE_MS = 1_000;
const NEVER = new Date(8.64e15);
/** What a line costs is what the same entry of this costs. */
const SAME = parse(/* GraphQL */ `
  mutation Ingest($inputs: [PublishActionInput!]!) {
    publishActions(inputs: $inputs) {
      action {
        id
      }
      error {
        code
        message
      }
    }
  }
`);

/** Records the lines of a body as they arrive, and answers each. */
export function createIngest(http: HttpContext): Handler {
  return async (req, res) => {
    if (req.method !== 'POST') {
      sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'POST' });
      return;
    }
    const startedAt = performance.now();
    const answers = new AnswerLines(res);
    try {
      const { caller, headers } = await enter(http, req);
      answers.headers = headers;
      await ingest(http, { req, caller, identity: allowed(caller) }, answers);
      answers.end();
      http.observer.finished('ingest', undefined, startedAt);
    } catch (error) {
      // Of a client that has left, nothing is a failure.
      if (res.destroyed) return;
      const shown = http.observer.presentError(
        error instanceof DamagedText ? badInput(`The body ${error.message}`) : error,
      );
      http.observer.finished('ingest', [shown], startedAt);
      if (!res.headersSent) sendError(http, res, shown);
      else await answers.endWith(shown, req);
    }
  };
}

function allowed({ identity }: Caller): Identity {
  if (identity === null) throw unauthenticated('This requires a token: authorization: Bearer <token>');
  requireRole(identity, 'service');
  return identity;
}

interface Ingestion {
  readonly req: IncomingMessage;
  readonly caller: Caller;
  readonly identity: Identity;
}

async function ingest(
  http: HttpContext,
  { req, caller, identity }: Ingestion,
  answers: AnswerLines,
): Promise<void> {
  const keyOf = keysOf(req);
  checkEncoding(req);
  using room = http.intake.open(caller);
  const full = room.resize(ROOM_BYTES);
  if (full !== null) throw full;
  using chunks = new BodyChunks(req, http.limits.sendTimeoutMs);
  using _untimed = inItsOwnTime(req, answers.response, http.limits.requestTimeoutMs / 2);
  using _ended = http.core.sessionEnds.onEnd(identity.userId, () =>
    chunks.end(unauthenticated('The session was ended')),
  );
  using _expired = callAt(identity.expiresAt ?? NEVER, () =>
    chunks.end(unauthenticated('The token has expired')),
  );
  await recordLines(linesOf(chunks), {
    keyOf,
    bounds: http.limits.json,
    publish: (inputs) =>
      publish(http, caller, identity, inputs).catch((error: unknown) => {
        // Otherwise it would be noticed with the next line, which may wait for this answer.
        chunks.end(toError(error));
        throw error;
      }),
    answer: (some) => answers.write(some),
  });
}

function keysOf({ url = '' }: IncomingMessage): KeyOf {
  const parameters = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');
  for (const [name, value] of parameters)
    if (name !== 'keys' || value !== 'content')
      throw badInput(
        `The only parameter is keys=content, got ${JSON.stringify(`${name}=${value}`.slice(0, 40))}`,
      );
  return parameters.has('keys') ? keyOfContent : () => null;
}

/** Whether it is compressed is seen by its first bytes, as in files. */
function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!['', 'identity', 'gzip'].includes(encoding))
    throw apiError(
      'BAD_USER_INPUT',
      `The content-encoding must be gzip, or none, got "${encoding.slice(0, 40)}"`,
      {
        status: 415,
      },
    );
}

/** As the mutation of this name, with its limits: beyond them, each line is refused. */
async function publish(
  { core, rateLimits, schema }: HttpContext,
  caller: Caller,
  identity: Identity,
  given: readonly PublishActionInput[],
): Promise<readonly PublishOutcome[]> {
  const operation = findOperation(SAME, null);
  if (rateLimits?.hasCost === true && operation !== null) {
    const cost = operationCost('usual', schema, operation, { inputs: given });
    const refusal = refusalFor(await rateLimits.countCost(caller, cost));
    if (refusal !== null) {
      const error = { code: 'RATE_LIMITED', message: refusal.message } as const;
      return given.map(() => ({ action: null, isReplay: false, error }));
    }
  }
  const acting = new Acting(tenantOf(identity.userId));
  const outcomes = await publishActions(core, identity, acting.stored(given));
  return outcomes.map((outcome) =>
    outcome.error === null
      ? outcome
      : { ...outcome, error: { ...outcome.error, message: acting.shown(outcome.error.message) } },
  );
}

/** The answer, line by line. Its status is that of the first batch. */
class AnswerLines {
  readonly response: ServerResponse;
  headers: Readonly<Record<string, string>> = {};

  constructor(response: ServerResponse) {
    this.response = response;
  }

  /** Waits while too many are not read. */
  async write(answers: readonly Answer[]): Promise<void> {
    await this.#send(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
  }

  end(): void {
    this.#begin();
    this.response.end();
  }

  /** The last line says why there are no more, to a client that may be sending still. */
  async endWith(
    { message, extensions }: { readonly message: string; readonly extensions: object },
    req: IncomingMessage,
  ): Promise<void> {
    const { code } = extensions as { readonly code: string };
    await this.#send(`${JSON.stringify({ error: message, code })}\n`);
    await new Promise<void>((resolve) => {
      const late = callAfter(GOODBYE_MS, resolve);
      const done = (): void => {
        late[Symbol.dispose]();
        resolve();
      };
      if (req.complete || req.destroyed) done();
      else req.once('end', done).once('close', done).resume();
    });
    const { socket } = this.response;
    this.response.end();
    // What it still sends would be taken for a request.
    if (!req.complete) socket?.destroySoon();
  }

  async #send(text: string): Promise<void> {
    this.#begin();
    if (!this.response.write(text) && this.response.writableLength > UNREAD_BYTES)
      await drainedOrClosed(this.response);
    if (this.response.destroyed) throw new Error('The client has left');
  }

  #begin(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      ...this.headers,
    });
  }
}
