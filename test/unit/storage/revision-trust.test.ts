import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isTrustedSince } from '../../../src/storage/database/revision-trust.ts';
import type { SchemaState } from '../../../src/storage/database/schema-version.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const SINCE = 3;
const AGAIN_MS = 60_000;

/** A database whose version a test sets, and how often it was asked for it. */
function versions(version: number | null) {
  const database = { version, asked: 0 };
  const state = (): Promise<SchemaState | null> => {
    database.asked += 1;
    const found = database.version;
    const rest = { required: 0, hasTenants: false, adopting: null, migration: null };
    return Promise.resolve(found === null ? null : { version: found, ...rest });
  };
  return Object.assign(database, { state });
}

test('while a process of an older release may write, nothing is trusted; from the end of the migration on it is', async () => {
  const database = versions(SINCE - 1);
  const isTrusted = isTrustedSince(database, SINCE);
  expect(await isTrusted()).toBe(false);
  vi.advanceTimersByTime(AGAIN_MS);
  expect(await isTrusted()).toBe(false);
  database.version = SINCE;
  vi.advanceTimersByTime(AGAIN_MS);
  expect(await isTrusted()).toBe(true);
});

test('the database is asked once a minute until then, and never again', async () => {
  const database = versions(SINCE - 1);
  const isTrusted = isTrustedSince(database, SINCE);
  for (let read = 0; read < 5; read += 1) await isTrusted();
  vi.advanceTimersByTime(AGAIN_MS - 1);
  database.version = SINCE + 1;
  expect(await isTrusted()).toBe(false);
  expect(database.asked).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await isTrusted()).toBe(true);
  vi.advanceTimersByTime(10 * AGAIN_MS);
  expect(await isTrusted()).toBe(true);
  expect(database.asked).toBe(2);
});

test('one that is asked each time knows it at once', async () => {
  const database = versions(SINCE - 1);
  const isTrusted = isTrustedSince(database, SINCE, { askAgainMs: 0 });
  expect(await isTrusted()).toBe(false);
  database.version = SINCE;
  expect(await isTrusted()).toBe(true);
});

test('a database without a version is one in which nothing was written', async () => {
  expect(await isTrustedSince(versions(null), SINCE)()).toBe(true);
});
