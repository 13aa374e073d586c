import { mkdirSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { join } from 'node:path';

/** Runs it under the CPU profiler of this process and keeps the profile; without a folder it only runs it. */
export async function withProfile<T>(
  folder: string | null,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  if (folder === null) return work();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  try {
    return await work();
  } finally {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.cpuprofile`), JSON.stringify(profile));
  }
}

export type CpuProfile = Profiler.Profile;

/** Share of the samples by where they fell, largest first. Idle time is left out. */
export function summariseProfile(profile: CpuProfile): {
  readonly byRoom: readonly (readonly [string, number])[];
  readonly byFunction: readonly (readonly [string, number])[];
} {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const rooms = new Map<string, number>();
  const functions = new Map<string, number>();
  let all = 0;
  profile.samples?.forEach((id, index) => {
    const frame = nodes.get(id);
    if (frame === undefined || frame.functionName === '(idle)') return;
    const time = profile.timeDeltas?.[index] ?? 0;
    all += time;
    const room = roomOf(frame.url, frame.functionName);
    rooms.set(room, (rooms.get(room) ?? 0) + time);
    const name = `${room} ${frame.functionName === '' ? '(anonymous)' : frame.functionName}:${frame.lineNumber + 1}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
  });
  const shares = (map: ReadonlyMap<string, number>, count: number): (readonly [string, number])[] =>
    [...map]
      .map(([name, time]) => [name, time / all] as const)
      .sort(([, a], [, b]) => b - a)
      .slice(0, count);
  return { byRoom: shares(rooms, 25), byFunction: shares(functions, 40) };
}

/** The package or the folder of the project that a function belongs to. */
function roomOf(url: string, name: string): string {
  if (url === '') return name.startsWith('(') ? name : '(native)';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inPackage !== undefined) return inPackage;
  const inProject = /\/((?:src|bench)\/[^?]*)/.exec(url)?.[1];
  return inProject ?? url.replace(/^file:\/\//, '');
}
