import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import type { Kind, Mishap } from './installation.ts';
import { OPERATIONS, type Numbers, type OperationName } from './operations.ts';

/** Something that a member does. */
export interface Operation extends Numbers {
  readonly do: OperationName;
  /** Milliseconds after the phase began. */
  readonly at: number;
  /** What befalls it on its way. */
  readonly mishap?: OwnMishap;
  /** The network brings it once more, so long after its answer. Only of what has an idempotency key. */
  readonly repeatAfterMs?: number;
}

/** What befalls one of the writes to which an operation leads, counted from 0: its own, and those of work that it wakes. */
export interface OwnMishap extends Mishap {
  readonly atWrite: number;
}

export type Fault =
  /** A process dies at a command, before it has left or after it was carried out. */
  | { readonly kind: 'death'; readonly atCommand: number; readonly isBefore: boolean }
  /** The connection of a command is cut before it is carried out, or before its answer is there. */
  | { readonly kind: 'cut'; readonly atCommand: number; readonly isBefore: boolean }
  /** A command, or its answer, is on its way for long. */
  | {
      readonly kind: 'stall';
      readonly atCommand: number;
      readonly isBefore: boolean;
      readonly forMs: number;
    }
  /** A process stands still, while its leases run out. */
  | { readonly kind: 'freeze'; readonly atCommand: number; readonly forMs: number }
  /** The wall clock of a process is set. */
  | { readonly kind: 'clock'; readonly atCommand: number; readonly byMs: number }
  /** The database cannot be reached, or its disk is full. */
  | { readonly kind: 'away' | 'full'; readonly atCommand: number; readonly forMs: number }
  /** A watcher loses its connection. */
  | { readonly kind: 'hangup'; readonly atCommand: number; readonly watcher: number };

export interface Phase {
  readonly operations: readonly Operation[];
}

/** All that happens in a simulation but for what the scheduler decides. It can be made smaller. */
export interface Plan {
  readonly seed: number;
  readonly processes: readonly Kind[];
  readonly members: number;
  /** Members who watch from the beginning. */
  readonly watchers: number;
  readonly latencyMs: number;
  readonly slowOneIn: number;
  readonly slowMs: number;
  /** The longest lease of a worker, and how often it looks for work. */
  readonly leaseMs: number;
  readonly pollMs: number;
  /** Entries that a stored feed keeps; below them it is read from its source. */
  readonly feedCap: number;
  readonly phases: readonly Phase[];
  readonly faults: readonly Fault[];
}

const PROCESSES: readonly (readonly Kind[])[] = [
  ['both'],
  ['api', 'worker'],
  ['both', 'both'],
  ['both', 'api', 'worker'],
];
/** Most of a seed's commands are of its operations. */
const COMMANDS_OF_AN_OPERATION = 12;

/** What decides the same things. */
const THEMES: readonly (readonly OperationName[])[] = [
  ['report', 'reportByMany', 'dismiss', 'uphold', 'edit', 'hide', 'unhide'],
  ['comment', 'report', 'reportByMany', 'dismiss', 'uphold', 'hideComment', 'unhideComment'],
  [
    'markRead',
    'readThenComment',
    'comment',
    'like',
    'publish',
    'markItemRead',
    'markItemUnread',
    'look',
    'unhide',
    'hide',
  ],
  ['block', 'unblock', 'follow', 'unfollow', 'comment', 'publish', 'reshare', 'edit', 'like'],
  ['comment', 'like', 'unlike', 'react', 'unreact', 'hideComment', 'unhideComment', 'watch', 'look'],
  ['comment', 'watch', 'watch', 'look', 'follow', 'publish', 'move'],
  ['reshare', 'unshare', 'follow', 'unfollow', 'edit', 'hide', 'unhide', 'remove'],
  ['edit', 'move', 'follow', 'unfollow', 'rebuild', 'remove', 'comment'],
  ['hideItem', 'unhideItem', 'archiveItem', 'unarchiveItem', 'snoozeItem', 'unsnoozeItem', 'mute', 'unmute'],
];

/** Most operations have so few writes before they are answered; what they wake has more. */
const OWN_WRITES = [2, 2, 4, 4, 8] as const;

/** One or two of those that are done together wait on their way, so that the others overtake them there. */
function held(random: SeededRandom, together: readonly Operation[]): Operation[] {
  if (random.next() < 0.25) return [...together];
  const chosen = new Set(Array.from({ length: random.pick([1, 1, 2]) }, () => random.below(together.length)));
  return together.map((operation, n) =>
    chosen.has(n)
      ? { ...operation, mishap: ownMishapOf(random), repeatAfterMs: random.pick([1, 100, 2_000]) }
      : operation,
  );
}

function ownMishapOf(random: SeededRandom): OwnMishap {
  const atWrite = random.below(random.pick(OWN_WRITES));
  const kind = random.pick(['stall', 'stall', 'stall', 'stall', 'cut', 'death', 'death'] as const);
  const forMs = random.pick([30, 300, 1_000, 3_000, 8_000, 20_000]);
  return { kind, atWrite, isBefore: random.next() < 0.7, ...(kind === 'stall' ? { forMs } : {}) };
}

/** Each seed does much of little: some kinds of operations, on a few things, close together. */
export function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const names = Object.keys(OPERATIONS) as OperationName[];
  const own = Array.from({ length: 2 + random.below(4) }, () => random.pick(names));
  const favourites = random.next() < 0.8 ? random.pick(THEMES) : own;
  const members = 2 + random.below(4);
  const phases = Array.from({ length: 1 + random.below(3) }, () => phaseOf(random, { members, favourites }));
  const count = phases.flatMap(({ operations }) => operations).length * COMMANDS_OF_AN_OPERATION;
  return {
    ...{ seed, members, phases, watchers: random.pick([0, 0, 1, 2]) },
    processes: random.pick(PROCESSES),
    latencyMs: random.pick([0.05, 0.5, 5, 50]),
    slowOneIn: random.pick([0, 5, 20, 100]),
    slowMs: random.pick([2, 30, 400, 6_000]),
    ...{ leaseMs: random.pick([1_500, 10_000]), pollMs: random.pick([500, 2_000, 5_000]) },
    feedCap: random.pick([1_000, 1_000, 4, 2]),
    faults: Array.from({ length: random.pick([0, 1, 3, 6, 12]) }, () => faultOf(random, count)),
  };
}

interface Shape {
  readonly members: number;
  readonly favourites: readonly OperationName[];
}

function phaseOf(random: SeededRandom, { members, favourites }: Shape): Phase {
  const operations: Operation[] = [];
  let at = 0;
  const names = Object.keys(OPERATIONS) as OperationName[];
  for (let group = 4 + random.below(6); group > 0; group -= 1) {
    if (random.next() < 0.5) {
      const race = held(random, raceOf(random, members));
      operations.push(...race.map((one) => ({ ...one, at: one.at + at })));
      at += Math.max(...race.map((one) => one.at)) + random.next() * random.pick([1, 200, 3_000]);
      continue;
    }
    // What is done at the same time is often about the same.
    const [a, b] = [random.pick([0, 0, 1]), random.below(1_000)];
    const together = Array.from({ length: 1 + random.below(5) }, (): Operation => {
      const isFavourite = random.next() < 0.8;
      const isSame = random.next() < 0.7;
      return {
        do: isFavourite ? random.pick(favourites) : usual(random, names),
        ...{ by: random.below(members), at: at + random.next() * random.pick([0, 0, 1, 20]) },
        ...{ a: isSame ? a : random.below(6), b: isSame ? b : random.below(1_000), c: random.below(1_000) },
      };
    });
    operations.push(...held(random, together));
    at += random.next() * random.pick([1, 10, 200, 3_000]);
  }
  return { operations };
}

/** What is done at the same time about the same two members and the same thing; each had a fault of its own once. */
function raceOf(random: SeededRandom, members: number): Operation[] {
  const [i, step] = [random.below(members), random.below(members - 1)];
  const j = (i + 1 + step) % members;
  const [mine, theirs] = [
    { by: i, b: step },
    { by: j, b: (i - j - 1 + members) % members },
  ];
  /** An odd number that is none of a site, of a mention or of an end. */
  const c = 1;
  const soon = (): number => random.next() * random.pick([0, 1, 10, 100]);
  const [before, after] = [random.next() < 0.5, 50 + random.next() * random.pick([50, 1_000])];
  const earlier: Operation[] = before ? [{ do: 'publish', ...theirs, b: 0, a: 0, c, at: 0 }] : [];
  const at = before ? after : 0;
  const races: readonly (() => Operation[])[] = [
    () => [
      { do: 'report', by: i, a: 0, b: 1, c, at },
      { do: 'reportByMany', by: i, a: 0, b: 1, c, at: at + after + soon() },
      { do: 'dismiss', by: i, a: 0, b: 1, c, at: at + after + soon() },
    ],
    () => [
      { do: 'block', ...mine, a: 0, c, at: at + soon() },
      { do: 'follow', ...theirs, a: 2, c, at: at + soon() },
      { do: 'follow', ...mine, a: 2, c, at: at + soon() },
    ],
    () => [
      { do: 'watch', ...mine, a: 0, c, at: at + soon() },
      { do: random.pick(['comment', 'reshare', 'hide'] as const), ...theirs, a: 0, c, at: at + soon() },
    ],
    () => [
      { do: 'follow', ...mine, a: 2, c, at: at + soon() },
      { do: random.pick(['remove', 'hide', 'edit'] as const), ...theirs, a: 0, c, at: at + soon() },
      { do: random.pick(['unfollow', 'rebuild', 'comment'] as const), ...mine, a: 0, c, at: at + soon() },
    ],
    () =>
      Array.from({ length: 3 }, () => ({
        ...{ do: random.pick(['like', 'unlike', 'comment', 'reshare', 'unshare', 'edit'] as const) },
        ...{ by: random.pick([i, j]), a: 0, b: random.below(1_000), c: random.below(1_000), at: at + soon() },
      })),
    () => [
      { do: 'move', ...mine, a: 1, c: random.below(2), at: at + soon() },
      { do: 'rebuild', ...mine, a: 0, c, at: at + soon() },
      { do: 'move', ...mine, b: step + 1, a: 1, c: random.below(2), at: at + soon() },
    ],
    () => [{ do: 'readThenComment', ...mine, a: 0, c, at: at + soon() }],
    () => [
      { do: 'reportByMany', by: i, a: 0, b: 1, c: 0, at },
      { do: 'dismiss', by: i, a: 0, b: 1, c, at: at + after + soon() },
      { do: 'reportByMany', by: i, a: 0, b: 1, c, at: at + 2 * after + soon() },
      {
        do: random.pick(['dismiss', 'hide', 'edit'] as const),
        by: i,
        a: 0,
        b: 1,
        c,
        at: at + 3 * after + soon(),
      },
    ],
    () => [
      { do: random.pick(['like', 'react'] as const), ...mine, a: 0, c: 0, at, repeatAfterMs: 2 * after },
      ...(['unlike', 'unreact'] as const).map((what) => ({
        ...{ do: what, ...mine, a: 0, c, at: at + after + soon() },
      })),
    ],
    () => [
      { do: 'watch', ...mine, a: 0, c, at },
      {
        do: random.pick(['hide', 'remove', 'unshare'] as const),
        ...theirs,
        a: 0,
        c,
        at: at + after + soon(),
      },
    ],
    // What is cut off is sent again, by the client that waits for it.
    () => [
      {
        ...{ do: random.pick(['follow', 'hide', 'unhide', 'remove', 'comment', 'block', 'edit'] as const) },
        ...{ ...mine, a: 2, c, at: at + soon() },
        mishap: { kind: 'death', atWrite: random.below(3), isBefore: random.next() < 0.3 },
      },
      { do: random.pick(['follow', 'like', 'comment', 'edit'] as const), ...mine, a: 2, c, at: at + soon() },
    ],
  ];
  return [...earlier, ...random.pick(races)()];
}

function usual(random: SeededRandom, names: readonly OperationName[]): OperationName {
  const total = names.reduce((sum, name) => sum + OPERATIONS[name].weight, 0);
  let left = random.next() * total;
  return names.find((name) => (left -= OPERATIONS[name].weight) < 0) ?? 'publish';
}

function faultOf(random: SeededRandom, commands: number): Fault {
  const atCommand = random.below(commands);
  const isBefore = random.next() < 0.5;
  switch (random.below(10)) {
    case 0:
    case 1:
      return { kind: 'death', atCommand, isBefore };
    case 2:
      return { kind: 'cut', atCommand, isBefore };
    case 3:
    case 4:
    case 5:
      return { kind: 'stall', atCommand, isBefore, forMs: random.pick([20, 300, 3_000, 8_000]) };
    case 6:
      return { kind: 'freeze', atCommand, forMs: random.pick([200, 2_500, 12_000]) };
    case 7:
      return { kind: 'clock', atCommand, byMs: random.pick([-5_000, -400, -30, 30, 400, 5_000]) };
    case 8:
      return {
        kind: random.pick(['away', 'full'] as const),
        atCommand,
        forMs: random.pick([300, 3_000, 8_000]),
      };
    default:
      return { kind: 'hangup', atCommand, watcher: random.below(3) };
  }
}
