import { expect } from 'vitest';
import { clock } from '../../src/lib/clock.ts';
import { FanfareError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/viewer.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { Model, ModelReader } from './model.ts';
import { PEOPLE, type Person, type Step } from './model-steps.ts';
import type { Parts } from './parts.ts';

/** The same things happening to the server and to the model, with names of their own for all that has one. */
export interface Run {
  readonly parts: Parts;
  readonly model: Model;
  /** The id that a person, a ref, a team has in this run. */
  id(name: string): string;
  reader(name: Person): ModelReader;
  /** Those that work beside what happens. */
  workers: AsyncDisposable | null;
}

export function rolesOf(name: Person): readonly Role[] {
  return name === 'eve' ? ['user', 'admin'] : ['user'];
}

export function openRun(parts: Parts, number: number): Run {
  const id = (name: string): string => `${name}-${String(number)}`;
  const readers = PEOPLE.map((name) => ({
    userId: id(name),
    roles: rolesOf(name),
    mutes: [],
    hiddenActionIds: [],
    archivedActionIds: [],
    snoozed: new Map<string, number>(),
    readAt: new Map<string, number>(),
    unreadActionIds: [],
    bookmarks: [],
    lists: new Map(),
    lastRead: null,
    notifications: {
      ...{ seenAt: null, readAt: null },
      ...{ read: new Map<string, number>(), preferences: new Map<string, boolean>() },
    },
  }));
  const model: Model = {
    turn: 0,
    names: new Map(),
    members: [],
    follows: [],
    actions: [],
    scheduled: [],
    readers,
    blocks: [],
    pins: new Map(),
  };
  return { parts, model, id, reader: (name) => found(readers[PEOPLE.indexOf(name)]), workers: null };
}

export function found<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('There is none');
  return value;
}

export type StepTo<T extends Step['do']> = Extract<Step, { readonly do: T }>;

export function session(run: Run, name: Person): ReaderSession {
  return run.parts.session(run.id(name), ...rolesOf(name));
}

/** Null: it was done. */
export async function expectOutcome(work: Promise<unknown>, expected: ErrorCode | null): Promise<void> {
  let code: ErrorCode | null = null;
  try {
    await work;
  } catch (error) {
    if (!(error instanceof FanfareError)) throw error;
    code = error.code;
  }
  expect(code).toBe(expected);
}

/**
 * When something happened is for the server's clock to say. The model takes the instant from what was stored, and
 * believes it if it lies between the call and the answer.
 */
export async function during<T>(
  work: () => Promise<T>,
): Promise<{ result: T; instant: (at: Date | undefined) => number }> {
  // By the clock of the server, which is this process.
  const before = clock.time();
  const result = await work();
  const after = clock.time();
  return {
    result,
    instant(at) {
      const time = found(at).getTime();
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(after);
      return time;
    },
  };
}
