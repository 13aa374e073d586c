import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { CommandError, configOf } from '../../../src/cli/context.ts';
import { openRuntime } from '../../../src/cli/runtime.ts';
import { actingFor, type ActingOptions } from '../../../src/cli/token.ts';
import type { Core } from '../../../src/core/core.ts';
import type { Acting } from '../../../src/core/stored-input.ts';
import { readStreamAddress, STREAM_FORM, type StreamAddress } from '../../../src/domain/stream-address.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { publishActions } from '../../../src/features/publish/publish-action.ts';
import { DEFAULT_LIMITS } from '../../../src/http/limits/limits.ts';
import { visible } from '../../../src/lib/redact.ts';
import { consume, type ConsumingOptions } from './consume.ts';

export interface ConsumeOptions extends ActingOptions {
  readonly group: string;
  readonly worker: boolean;
}

/** Longer than a busy process is silent about what it holds. */
const TAKEN_OVER_AFTER_MS = 3_000;
const AGAIN_AFTER_MS = 1_000;
const MAX_SHOWN = 100;
const CONSUMER: Identity = { userId: 'consume', roles: new Set(['user', 'service']), expiresAt: null };

/** Records what a stream has and gets, until a signal. */
export async function consumeStream(
  context: CommandContext,
  url: string,
  options: ConsumeOptions,
): Promise<void> {
  const consumeAll = await consumerOf(url, options.group);
  const { terminal } = context;
  const config = configOf(context, { needsKey: false });
  const acting = actingFor(config, options);
  const stop = new AbortController();
  await using runtime = await openRuntime(context, {
    ...{ config, parts: { api: false, worker: options.worker }, voice: 'command', stop },
  });
  terminal.note(`Consuming ${addressOf(url).shown} as ${options.group}.`);
  let faults = 0;
  let failure = '';
  await consumeAll({
    bounds: DEFAULT_LIMITS.json,
    publish: publisher(runtime.app.core, acting),
    signal: stop.signal,
    againAfterMs: AGAIN_AFTER_MS,
    onConcluded({ refused }) {
      failure = '';
      for (const { reason } of refused) {
        faults += 1;
        if (faults <= MAX_SHOWN) terminal.note(visible(`Refused: ${reason}`));
        if (faults === MAX_SHOWN) terminal.note('Further ones are kept but not shown.');
      }
    },
    onFailure(error) {
      const message = error instanceof Error ? error.message : String(error);
      // Until it works again, the same is said once.
      if (message !== failure) terminal.note(visible(`${message}. Trying again.`));
      failure = message;
    },
  });
}

/** As `publishActions` of the API, with its hooks and quotas. */
export function publisher(core: Core, acting: Acting): ConsumingOptions['publish'] {
  const consumer = acting.as(CONSUMER);
  return async (inputs) => {
    const outcomes = await publishActions(core, consumer, acting.stored(inputs));
    return outcomes.map((outcome) =>
      outcome.error === null
        ? outcome
        : { ...outcome, error: { ...outcome.error, message: acting.shown(outcome.error.message) } },
    );
  };
}

/** What consumes the stream at an address. @throws CommandError for an address that is none */
export async function consumerOf(
  url: string,
  group: string,
  takenOverAfterMs = TAKEN_OVER_AFTER_MS,
): Promise<(options: ConsumingOptions) => Promise<void>> {
  const given = { ...addressOf(url), group, takenOverAfterMs };
  const holdEveryMs = takenOverAfterMs / 4;
  if (given.kind === 'redis') {
    const { openRedisStream } = await import('./redis-stream.ts');
    return (options) => consume(() => openRedisStream(given), options, holdEveryMs);
  }
  const { openNatsStream } = await import('./nats-stream.ts');
  return (options) => consume(() => openNatsStream(given), options, holdEveryMs);
}

function addressOf(url: string): StreamAddress {
  const address = readStreamAddress(url);
  if (address === null) throw new CommandError(`The address must be like ${STREAM_FORM}`);
  return address;
}
