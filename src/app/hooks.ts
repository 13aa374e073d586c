import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { createPostClient } from '../connections/post-client.ts';
import type { CheckedHook, CheckedHooks, SignedTarget } from '../descriptors/host-hooks.ts';
import { FanfareError } from '../domain/errors.ts';
import { verdictOf, type Ask, type Hooks, type Verdict } from '../domain/hook.ts';
import { signatureHeaders } from '../domain/signature.ts';
import { clock } from '../lib/clock.ts';
import type { Closer } from '../lib/closer.ts';
import { syncToAsync } from '../lib/prefetch.ts';
import { within } from '../lib/within.ts';
import { logHookFailed } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';

/** How long an answer may take. */
const TIMEOUT_MS = 2_000;
const LATE = Symbol('late');
const MAX_CONNECTIONS = 32;

/** The hooks of a host's configuration, as use cases ask them. */
export function createHooks(
  { beforePublish, beforeInteract }: CheckedHooks,
  { safety }: Config,
  logger: Logger,
  closer: Closer,
): Hooks {
  return {
    beforePublish: made('beforePublish', beforePublish),
    beforeInteract: made('beforeInteract', beforeInteract),
  };

  function made<T extends object>(name: string, hook: CheckedHook | null): Ask<T> | null {
    if (hook === null) return null;
    const ask =
      typeof hook === 'function' ? asked(hook) : posted(name, hook, { timeoutMs: TIMEOUT_MS }, closer);
    return async (what) => {
      let error: unknown = new Error('The answer of the hook is not a verdict');
      try {
        const verdict = verdictOf(await ask(structuredClone(what)));
        if (verdict !== null) return verdict;
      } catch (thrown) {
        error = thrown;
      }
      logHookFailed(logger, { hook: name, err: error });
      return withoutAnswer(safety.hookFailure);
    };
  }
}

function withoutAnswer(failure: 'open' | 'closed'): Verdict {
  if (failure === 'open') return { verdict: 'accept' };
  throw new FanfareError('UNAVAILABLE', 'The host application does not answer; try again later');
}

function asked(hook: (what: object) => unknown): (what: object) => Promise<unknown> {
  return async (what) => {
    const answer = await within(TIMEOUT_MS, Promise.resolve(hook(what)), LATE);
    if (answer === LATE) throw new Error(`No answer within ${String(TIMEOUT_MS / 1_000)} s`);
    return answer;
  };
}

/** A URL, which is asked with the signature of webhooks. An empty answer is `undefined`. Rejects if the host does not answer in JSON. */
export function posted(
  name: string,
  { url, keys, allowPrivateAddress }: SignedTarget,
  limits: { readonly timeoutMs: number; readonly mostBytes?: number },
  closer: Closer,
): (what: object) => Promise<unknown> {
  const client = createPostClient({
    ...{ url, allowPrivateAddress, maxConnections: MAX_CONNECTIONS, ...limits },
  });
  closer.own(syncToAsync(client));
  return async (what) => {
    const body = JSON.stringify({ type: name, data: what });
    const headers = signatureHeaders(keys, { id: randomUUID(), sentAt: clock.now(), body });
    const outcome = await client.post(headers, body, new AbortController().signal);
    if (!outcome.isTaken) throw new Error(outcome.error);
    // Part of an answer may look like an empty one, which accepts.
    if (outcome.body === null) throw new Error('The answer broke off or is too long');
    return outcome.body.trim() === '' ? undefined : (JSON.parse(outcome.body) as unknown);
  };
}
