import type { Trace, TraceAction } from '../../parts/demo/src/trace.ts';
import type { PublishActionInput } from '../../src/core/shapes.ts';
import type { InProcess } from '../harness/in-process.ts';
import { zipf } from '../harness/random.ts';
import { loadFollowers, readerId } from './people.ts';
import type { RawWorld } from './raw.ts';
import { followMany } from '../../src/features/follow/follow.ts';
import { upsertMembers, upsertRefs } from '../../src/features/directory/directory.ts';
import { publishActions } from '../../src/features/publish/publish-action.ts';

const AT_ONCE = 1_000;

/**
 * Loads people, things and follows of the trace, and as many further readers as asked for: they follow the refs of the
 * trace with Zipf's numbers, so that few refs are very popular. Returns the ids of all readers.
 */
export async function loadTrace(
  world: RawWorld,
  fanfare: InProcess,
  trace: Trace,
  options: { readonly readers: number; readonly random: () => number },
): Promise<readonly string[]> {
  const { core } = fanfare.app;
  for (const chunk of chunks(trace.members)) await upsertMembers(core, fanfare.service, chunk);
  for (const chunk of chunks(trace.refs)) await upsertRefs(core, fanfare.service, chunk);
  for (const chunk of chunks(trace.follows)) await followMany(core, fanfare.service, chunk);
  const rank = zipf(trace.refs.length);
  const followers = new Map<string, number>();
  for (let reader = 0; reader < options.readers; reader++) {
    const ref = trace.refs[rank(options.random())];
    if (ref !== undefined) followers.set(ref.id, (followers.get(ref.id) ?? 0) + 1);
  }
  let first = 0;
  for (const [refId, count] of followers) {
    await loadFollowers(world.follows, refId, count, first);
    first += count;
  }
  await fanfare.app.idle();
  return [
    ...Array.from({ length: options.readers }, (_, index) => readerId(index)),
    ...trace.members.map((member) => member.memberId),
  ];
}

/** Publishes actions of the trace as if they happened now, and waits until they are delivered. */
export async function publishTrace(fanfare: InProcess, actions: readonly TraceAction[]): Promise<void> {
  for (const chunk of chunks(actions, 500)) {
    const outcomes = await publishActions(
      fanfare.app.core,
      fanfare.service,
      chunk.map((action, index) => asOfNow(action, `load-${String(index)}`)),
    );
    const refused = outcomes.find((outcome) => outcome.error !== null);
    if (refused?.error != null) throw new Error(`Not published: ${refused.error.message}`);
  }
  await fanfare.app.idle();
}

/** The action with the time of now, and a key of its own. */
export function asOfNow(action: TraceAction, key: string): PublishActionInput {
  const { conducted: _conducted, idempotencyKey, ...rest } = action;
  return { ...rest, idempotencyKey: `${idempotencyKey}-${key}` };
}

function* chunks<T>(entries: readonly T[], size = AT_ONCE): Generator<readonly T[]> {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}
