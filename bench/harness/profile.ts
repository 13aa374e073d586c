import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

type CpuProfile = Profiler.Profile;

const ENDING = '.cpuprofile';
/** Ending of a folder with the profiles of all threads of one process. */
export const THREADS = '.threads';

/** Keeps the profile of the main thread of each process, under the name of the process. */
function collectProfiles(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.endsWith(THREADS))) {
    const threads = join(folder, name);
    // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
    const main = readdirSync(threads).find((file) => file.split('.').at(-3) === '0');
    if (main !== undefined) renameSync(join(threads, main), join(folder, name.replace(THREADS, ENDING)));
    rmSync(threads, { recursive: true });
  }
}

/**
 * Writes beside each profile where its time went: `<name>.txt`, shares of packages and functions, and `<name>.folded`, its
 * stacks as flame graphs are drawn from, small enough to keep.
 */
export function writeProfileSummaries(folder: string): void {
  if (!existsSync(folder)) return;
  collectProfiles(folder);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(ENDING))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
    const { byRoom, byFunction } = summariseProfile(profile);
    const lines = (shares: typeof byRoom): string[] =>
      shares.map(([name, share]) => `${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
    const text = ['Packages and files', ...lines(byRoom), '', 'Functions', ...lines(byFunction), ''].join(
      '\n',
    );
    writeFileSync(join(folder, file.replace(ENDING, '.txt')), text);
    writeFileSync(join(folder, file.replace(ENDING, '.folded')), foldStacks(profile));
  }
}

/** Share of the samples by where they fell, largest first. Idle time is left out. */
function summariseProfile(profile: CpuProfile): {
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

/** Of all the time a stack has to have as much to be kept. */
const KEPT_SHARE = 0.0002;

/** A line for each stack: its frames from the outermost on, and microseconds. Idle time and the rarest are left out. */
function foldStacks({ nodes, samples = [], timeDeltas = [] }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => node.children?.map((id) => [id, node.id] as const) ?? []));
  const stackOf = (id: number): string[] => {
    const frames: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = byId.get(at)?.callFrame;
      if (frame !== undefined && frame.functionName !== '(root)') frames.unshift(labelOf(frame));
    }
    return frames;
  };
  const times = new Map<number, number>();
  samples.forEach((id, index) => {
    if (byId.get(id)?.callFrame.functionName !== '(idle)')
      times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  const stacks = new Map<string, number>();
  for (const [id, time] of times) {
    const stack = stackOf(id).join(';');
    stacks.set(stack, (stacks.get(stack) ?? 0) + time);
  }
  return [...stacks]
    .filter(([, time]) => time >= all * KEPT_SHARE)
    .sort(([, a], [, b]) => b - a)
    .map(([stack, time]) => `${stack} ${String(time)}\n`)
    .join('');
}

/** Functions that GraphQL compiles have no file; no label may hold what separates frames. */
function labelOf({ url, functionName }: Profiler.Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  const room = roomOf(url, name);
  return (room === name ? name : `${name} [${room}]`).replaceAll(/[;\s]+/g, ' ');
}

/** The package or the folder of the project that a function belongs to. */
function roomOf(url: string, name: string): string {
  if (url === '') return name.startsWith('(') ? name : '(native)';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inPackage !== undefined) return inPackage;
  const inProject = /\/((?:src|dist|bench)\/[^?]*)/.exec(url)?.[1];
  return inProject ?? url.replace(/^file:\/\//, '');
}
