import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { PACKAGE } from '../../../src/lib/package-info.ts';
import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../../../src/core/shapes.ts';
import { MEMBERS, READER } from './people.ts';

const FOLDER = join(PACKAGE, 'templates', 'trace');

/** A sample of activity in public repositories, without names. */
export interface Trace {
  readonly members: readonly MemberInput[];
  readonly refs: readonly RefInput[];
  readonly follows: readonly FollowInput[];
  /** Oldest first. */
  readonly actions: readonly TraceAction[];
}

export interface TraceAction extends Omit<PublishActionInput, 'conducted'> {
  readonly idempotencyKey: string;
  readonly actorId: string;
  readonly conducted: string;
  readonly refs: readonly RefInput[];
}

/** @param folder with a trace in files of the same names. Default: the sample */
export async function readTrace(folder = FOLDER): Promise<Trace> {
  const [members, refs, follows, actions] = await Promise.all([
    linesOf<MemberInput>(folder, 'members'),
    linesOf<RefInput>(folder, 'refs'),
    linesOf<FollowInput>(folder, 'follows'),
    linesOf<TraceAction>(folder, 'actions'),
  ]);
  return { members, refs, follows, actions };
}

async function linesOf<Line>(folder: string, name: string): Promise<Line[]> {
  const text = await promisify(gunzip)(await readFile(join(folder, `${name}.ndjson.gz`)));
  return text
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** People whose feeds can be viewed follow some of its repositories each; the demo's reader follows all of them. */
export function followsOfRepositories({ refs }: Pick<Trace, 'refs'>): FollowInput[] {
  const repositories = refs.filter(({ type }) => type === 'repository');
  return MEMBERS.flatMap(({ memberId }, at) =>
    repositories
      .filter((_, index) => memberId === READER || (index + at) % 3 !== 0)
      .map(({ id }) => ({ followerId: memberId, refId: id })),
  );
}

/**
 * Delay before each action, in milliseconds, so that all of them take the given time. Times are set to now at every playing.
 */
export function* paced(
  actions: readonly TraceAction[],
  lastsMs: number,
  run: string,
): Generator<readonly [waitMs: number, input: PublishActionInput, at: string]> {
  const atOf = (action: TraceAction | undefined): number => Date.parse(action?.conducted ?? '0');
  const [first, last] = [atOf(actions[0]), atOf(actions.at(-1))];
  let before = first;
  for (const action of actions) {
    const { conducted, idempotencyKey, ...input } = action;
    const waitMs = ((atOf(action) - before) / Math.max(1, last - first)) * lastsMs;
    before = atOf(action);
    yield [
      waitMs,
      { ...input, idempotencyKey: `demo:${run}:${idempotencyKey}` },
      `${conducted.slice(5, 16).replace('T', ' ')} `,
    ];
  }
}
