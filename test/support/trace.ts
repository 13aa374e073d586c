import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../../src/services/shapes.ts';

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

/** The sample of a real activity trace that is kept with the tests: commits to public repositories, names removed. */
export async function readTrace(): Promise<Trace> {
  const folder = fileURLToPath(new URL('../fixtures/trace/', import.meta.url));
  return {
    members: await readLines<MemberInput>(`${folder}members.ndjson.gz`),
    refs: await readLines<RefInput>(`${folder}refs.ndjson.gz`),
    follows: await readLines<FollowInput>(`${folder}follows.ndjson.gz`),
    actions: await readLines<TraceAction>(`${folder}actions.ndjson.gz`),
  };
}

async function readLines<T>(path: string): Promise<T[]> {
  const lines: T[] = [];
  for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) }))
    if (line !== '') lines.push(JSON.parse(line) as T);
  return lines;
}

export function* chunksOf<T>(entries: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}
