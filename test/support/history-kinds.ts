import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { NOTIFICATION_KINDS } from '../../src/domain/notification.ts';
import { KINDS } from './model-whole-story.ts';
import { noteReasons } from './used-reasons.ts';

const PREFIX = 'history';

/** What random histories are to reach. No type of their actions says to notify somebody, so there is no OWN. */
const WANTED: readonly string[] = [
  ...Object.keys(KINDS),
  ...NOTIFICATION_KINDS.filter((kind) => kind !== 'OWN'),
];

/** Notes kinds of steps and of notifications that a history of the current test has reached. */
export function noteReached(kinds: readonly string[]): void {
  const { currentTestName = '' } = expect.getState();
  noteReasons(kinds.map((kind) => [PREFIX, currentTestName, kind].join('\t')));
}

/** Prints what the histories of each test have not reached. @returns what those of no test have */
export function reportReached(path: string): readonly string[] {
  const reached = new Map<string, Set<string>>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const [prefix, test = '', kind = ''] = line.split('\t');
    if (prefix === PREFIX) reached.set(test, (reached.get(test) ?? new Set()).add(kind));
  }
  const missing = (of: ReadonlySet<string>): string[] => WANTED.filter((kind) => !of.has(kind));
  for (const [test, kinds] of reached)
    console.log(
      `${String(kinds.size)} of ${String(WANTED.length)} kinds: ${test}. Not: ${missing(kinds).join(' ')}`,
    );
  return missing(new Set([...reached.values()].flatMap((kinds) => [...kinds])));
}
